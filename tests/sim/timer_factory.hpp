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

  // Somebody asks and asks while no time passes: on a real clock he would keep a thread busy.
  bool spins();

  Lifecycle& lifecycle_;
  Waiters<> waiters_;
  BootTime asked_at_{};
  std::size_t asked_ = 0;
};

}  // namespace hapax::sim
