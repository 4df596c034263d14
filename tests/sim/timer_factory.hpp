// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/wakeable_timer.hpp"
#include "sim/lifecycle.hpp"
#include "sim/waiters.hpp"

namespace hapax::sim {

// Timers on simulated time.
class SimTimerFactory final : public TimerFactory {
 public:
  explicit SimTimerFactory(Lifecycle& lifecycle) : lifecycle_(lifecycle) {}

  std::unique_ptr<WakeableTimer> make() override;
  std::size_t waiting() const { return waiters_.size(); }
  void die() { waiters_.clear(); }

 private:
  class One;

  // Detects a busy loop: repeated waits while no time passes, which would occupy a thread on a real
  // clock.
  bool spins();

  Lifecycle& lifecycle_;
  Waiters<> waiters_;
  BootTime waited_at_{};
  std::size_t waits_ = 0;
};

}  // namespace hapax::sim
