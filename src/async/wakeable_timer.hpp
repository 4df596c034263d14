// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/task.hpp"

#include <memory>

namespace hapax {

// Lets one coroutine wait for a time; others on its thread can wake it earlier.
class WakeableTimer {
 public:
  virtual ~WakeableTimer() = default;
  // Waits until `when` or until woken; returns at once if woken since the last wait. One waiter at
  // a time.
  virtual Task<void> wait_until(BootTime when) = 0;
  virtual void wake() = 0;
};

// Makes timers. The simulator has its own implementation.
class TimerFactory {
 public:
  virtual ~TimerFactory() = default;
  virtual std::unique_ptr<WakeableTimer> make() = 0;
};

// Timers on the event loop of `executor`, run by the steady clock; `clock` determines the remaining
// time.
std::unique_ptr<TimerFactory> make_timer_factory(const Executor& executor, Clock& clock);

}  // namespace hapax
