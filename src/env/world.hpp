// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <memory>

namespace hapax {

// The given clock and random source, or the system's if null.
struct World {
  World(Clock* given_clock, Random* given_random)
      : own_clock(given_clock == nullptr ? make_system_clock() : nullptr),
        own_random(given_random == nullptr ? make_system_random() : nullptr),
        clock(given_clock != nullptr ? *given_clock : *own_clock),
        random(given_random != nullptr ? *given_random : *own_random) {}

  std::unique_ptr<Clock> own_clock;  // null if the caller provides one
  std::unique_ptr<Random> own_random;
  Clock& clock;
  Random& random;
};

}  // namespace hapax
