// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <algorithm>
#include <chrono>

namespace hapax {

// A token bucket: holds at most `most` tokens and gains `per_second`.
struct TokenBucket {
  double left;
  BootTime at{};

  void refill(BootTime now, double per_second, double most) {
    const double passed = std::chrono::duration<double>(now - at).count();
    left = std::min(most, left + std::max(0.0, passed) * per_second);
    at = now;
  }
};

}  // namespace hapax
