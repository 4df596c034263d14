// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hapax {

// Base64 of RFC 4648: standard alphabet with padding, or URL alphabet without. Decoding is strict:
// it rejects the other alphabet, missing or extra padding, whitespace and non-zero trailing bits,
// so no two texts decode to the same bytes.
enum class Base64 : unsigned char { standard, url };

std::string to_base64(std::string_view bytes, Base64 kind = Base64::standard);
std::optional<std::string> from_base64(std::string_view text, Base64 kind = Base64::standard);

// Decodes without an allocation. Returns the number of bytes written, or nullopt if `text` is
// invalid or `out` is too small.
std::optional<std::size_t> decode_base64(std::string_view text, Base64 kind,
                                         std::span<unsigned char> out);

}  // namespace hapax
