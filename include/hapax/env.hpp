// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hapax {

inline constexpr std::chrono::hours days{24};  // 30 * hapax::days

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
using BootTime = std::chrono::microseconds;

// Where hapax gets time from. A program that tests itself can pass its own; thread-safe.
class HAPAX_API Clock {
 public:
  virtual ~Clock() = default;
  // Calendar time. It may jump both ways. Store time takes from it how long the machine was off,
  // and what the boot clock has not seen; see docs/adr/0006.
  virtual WallTime wall() const = 0;
  // Time since boot, suspended time included. It never goes back within one boot.
  virtual BootTime since_boot() const = 0;
  // Names the boot that since_boot() counts from. Stays the same for the clock's whole life.
  virtual const std::string& boot_id() const = 0;
};

// Where hapax gets chance from. Thread-safe.
class HAPAX_API Random {
 public:
  virtual ~Random() = default;
  // Fills all of `bytes`. Never fails: a system that has no entropy ends the process.
  virtual void fill(std::span<unsigned char> bytes) = 0;
};

HAPAX_API std::unique_ptr<Clock> make_system_clock();
HAPAX_API std::unique_ptr<Random> make_system_random();

}  // namespace hapax
