// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <algorithm>
#include <array>

namespace hapax::store::postgres {

// How long to wait before one tries again.
struct Backoff {
  BootTime first;
  BootTime longest;

  // After so many failures, from 0 on: between half and the whole of a time that doubles, so that
  // those who met once do not meet again, and many nodes do not come back as one.
  BootTime rest(int failures, Random& random) const {
    const BootTime most = std::min(first * (1 << std::min(failures, 20)), longest);
    std::array<unsigned char, 2> chance{};
    random.fill(chance);
    return most / 2 + (most - most / 2) * (chance[0] * 256 + chance[1]) / 65535;
  }
};

}  // namespace hapax::store::postgres
