// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hapax {

std::string to_hex(std::string_view bytes);
// Returns nullopt unless `hex` consists of pairs of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view hex);
// Decodes without an allocation. Returns the number of bytes written; nullopt also if `out` is too
// small.
std::optional<std::size_t> decode_hex(std::string_view hex, std::span<unsigned char> out);

}  // namespace hapax
