// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

namespace hapax {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);

// Hashes the parts, each preceded by its length, so that moving a byte from one part to the next
// changes the digest.
Digest sha256_of_parts(std::initializer_list<std::string_view> parts);

inline std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace hapax
