// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Time and randomness, which tests can replace.

#include <hapax/error.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace hapax {

/// A day of 24 hours: `30 * hapax::days`.
inline constexpr std::chrono::hours days{24};

/// Calendar time in UTC, in microseconds since 1970.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
/// Time since the machine was started, in microseconds.
using BootTime = std::chrono::microseconds;

/// The source of time. Pass your own in OpenOptions, SqliteOptions or PostgresOptions to let tests
/// expire claims without waiting; it must outlive what uses it. Any thread may call any member at
/// any time, also while another thread sets the time. Members must not throw.
class HAPAX_API Clock {
 public:
  virtual ~Clock() = default;

  /// Calendar time. It may jump in both directions. Stores use it to count the time that the
  /// machine was off and to bound the boot clock (docs/adr/0006).
  virtual WallTime wall() const = 0;
  /// Time since boot, suspended time included. It never decreases within one boot.
  virtual BootTime since_boot() const = 0;
  /// Identifies the boot that since_boot() refers to. Constant for the lifetime of the clock, and
  /// different after a restart of the machine.
  virtual const std::string& boot_id() const = 0;
};

/// The source of randomness, for tokens and message ids. The same rules as for Clock apply.
class HAPAX_API Random {
 public:
  virtual ~Random() = default;

  /// Fills all of `bytes`, which may be empty, with unpredictable values. It cannot fail. A source
  /// for tests that repeats a value makes two requests share a token.
  virtual void fill(std::span<unsigned char> bytes) = 0;
};

/// The system's clock: CLOCK_REALTIME, CLOCK_BOOTTIME and the boot id of the kernel. Never null.
HAPAX_API std::unique_ptr<Clock> make_system_clock();
/// The kernel's random generator (getrandom), which is safe after fork(). Never null. Without
/// entropy fill() waits during boot; if the kernel reports an error it aborts the process.
HAPAX_API std::unique_ptr<Random> make_system_random();

}  // namespace hapax
