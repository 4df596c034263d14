// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <algorithm>
#include <array>

namespace hapax::store::postgres {

// Exponential backoff with jitter.
struct Backoff {
  BootTime first;
  BootTime longest;

  // The delay after this many failures, from 0 on: between half and the whole of a doubling
  // interval, so that callers in conflict do not collide again and many nodes do not return at
  // once.
  BootTime rest(int failures, Random& random) const {
    const BootTime most = std::min(first * (1 << std::min(failures, 20)), longest);
    std::array<unsigned char, 2> chance{};
    random.fill(chance);
    return most / 2 + (most - most / 2) * (chance[0] * 256 + chance[1]) / 65535;
  }
};

}  // namespace hapax::store::postgres
