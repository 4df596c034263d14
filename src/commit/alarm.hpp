// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "commit/task.hpp"

#include <memory>

namespace hapax {

// Lets one coroutine wait for a time, and others on its thread wake it earlier.
class Alarm {
 public:
  virtual ~Alarm() = default;
  // Until then or until it rings; at once when it rang since the last wait. One waits at a time.
  virtual Task<void> wait_until(BootTime when) = 0;
  virtual void ring() = 0;
};

// Time as coroutines see it. The simulator has one of its own.
class Alarms {
 public:
  virtual ~Alarms() = default;
  virtual std::unique_ptr<Alarm> make() = 0;
};

// On the event loop of `executor`, by the machine's own time; `clock` says how long it is until
// then.
std::unique_ptr<Alarms> make_alarms(const Executor& executor, Clock& clock);

}  // namespace hapax
