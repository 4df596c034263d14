// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/task.hpp"

#include <memory>

namespace hapax {

// Lets one coroutine wait for a time, and others on its thread wake it earlier.
class WakeableTimer {
 public:
  virtual ~WakeableTimer() = default;
  // Until then or until it is woken; at once when it was woken since the last wait. One waits at a
  // time.
  virtual Task<void> wait_until(BootTime when) = 0;
  virtual void wake() = 0;
};

// Time as coroutines see it. The simulator has one of its own.
class TimerFactory {
 public:
  virtual ~TimerFactory() = default;
  virtual std::unique_ptr<WakeableTimer> make() = 0;
};

// On the event loop of `executor`, by the machine's own time; `clock` says how long it is until
// then.
std::unique_ptr<TimerFactory> make_timer_factory(const Executor& executor, Clock& clock);

}  // namespace hapax
