// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"

#include <string_view>

namespace hapax::bench {

// A body of about `size` bytes, signed as `preset` signs and verified repeatedly by hapax. The
// baseline is OpenSSL's own primitive over the same body: HMAC with the scheme's hash (SHA-256 for
// tokens and passwords) on a prepared EVP_MAC context, which is its fastest way, or
// EVP_DigestVerify for public keys.
Pair open_pair(std::string_view preset, std::size_t size);

}  // namespace hapax::bench
