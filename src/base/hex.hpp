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
// Nothing when it is not pairs of hexadecimal digits.
std::optional<std::string> from_hex(std::string_view hex);
// The same without an allocation: how many bytes were written; nothing also when `out` is too
// small.
std::optional<std::size_t> decode_hex(std::string_view hex, std::span<unsigned char> out);

}  // namespace hapax
