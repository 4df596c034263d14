// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hapax {

inline constexpr std::chrono::hours days{24};  // 30 * hapax::days

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
using BootTime = std::chrono::microseconds;

// The source of time. Tests can pass their own. Thread-safe.
class HAPAX_API Clock {
 public:
  virtual ~Clock() = default;
  // Calendar time. It may jump in both directions. Store time uses it to count the time that the
  // machine was off and to bound the boot clock; see docs/adr/0006.
  virtual WallTime wall() const = 0;
  // Time since boot, suspended time included. Never decreases within one boot.
  virtual BootTime since_boot() const = 0;
  // Identifies the boot that since_boot() refers to. Constant for the lifetime of the clock.
  virtual const std::string& boot_id() const = 0;
};

// The source of randomness. Thread-safe.
class HAPAX_API Random {
 public:
  virtual ~Random() = default;
  // Fills all of `bytes`. Never fails: without system entropy the process aborts.
  virtual void fill(std::span<unsigned char> bytes) = 0;
};

HAPAX_API std::unique_ptr<Clock> make_system_clock();
HAPAX_API std::unique_ptr<Random> make_system_random();

}  // namespace hapax
