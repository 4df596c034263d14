// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hapax {

// base64 of RFC 4648: standard letters with padding, or URL letters without. Decoding takes exactly
// what encoding gives: another alphabet, missing or extra padding, spaces and non-zero left-over
// bits are refused, so that no two texts stand for the same bytes.
enum class Base64 : unsigned char { standard, url };

std::string to_base64(std::string_view bytes, Base64 kind = Base64::standard);
std::optional<std::string> from_base64(std::string_view text, Base64 kind = Base64::standard);

// The same without an allocation. The number of bytes written; nothing when `text` is refused or
// stands for more bytes than `out` has.
std::optional<std::size_t> decode_base64(std::string_view text, Base64 kind,
                                         std::span<unsigned char> out);

}  // namespace hapax
