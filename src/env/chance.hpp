// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

namespace hapax {

// A random number in [0, 1).
inline double chance(Random& random) {
  std::array<unsigned char, 4> bytes{};
  random.fill(bytes);
  std::uint32_t number = 0;
  for (const unsigned char each : bytes) number = number << 8U | each;
  return static_cast<double>(number) / 4294967296.0;
}

// A random number above 0, used as a unique id.
inline std::int64_t random_number(Random& random) {
  std::array<unsigned char, sizeof(std::int64_t)> bytes{};
  random.fill(bytes);
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return std::max<std::int64_t>(1, value & std::numeric_limits<std::int64_t>::max());
}

}  // namespace hapax
