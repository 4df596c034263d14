// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hapax {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  // how many bytes it has; 0: there is no UTF-8 at the front
};

// The character at the front of `text`, which is not empty. Strict: no surrogates, nothing beyond
// U+10FFFF, nothing written longer than it has to be.
Utf8Character first_character(std::string_view text);

}  // namespace hapax
