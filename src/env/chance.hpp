// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <array>
#include <cstdint>

namespace hapax {

// A number from 0 up to, and without, 1.
inline double chance(Random& random) {
  std::array<unsigned char, 4> bytes{};
  random.fill(bytes);
  std::uint32_t number = 0;
  for (const unsigned char each : bytes) number = number << 8U | each;
  return static_cast<double>(number) / 4294967296.0;
}

}  // namespace hapax
