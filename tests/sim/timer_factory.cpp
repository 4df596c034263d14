// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/timer_factory.hpp"

namespace hapax::sim {

class SimTimerFactory::One final : public WakeableTimer {
 public:
  explicit One(SimTimerFactory& all) : all_(all) {}
  ~One() override { all_.waiters_.forget(waiter_); }
  One(const One&) = delete;
  One& operator=(const One&) = delete;

  Task<void> wait_until(BootTime when) override {
    if (all_.spins()) when = BootTime::max();
    if (!woken_ && all_.lifecycle_.now() < when) {
      const auto start = [this, when](std::unique_ptr<Waiter<>> waiter) {
        wait(std::move(waiter), when);
      };
      co_await suspend<>(start);
    }
    woken_ = false;
  }

  void wake() override {
    woken_ = true;
    all_.waiters_.answer(all_.lifecycle_.context(), waiter_);
  }

 private:
  void wait(std::unique_ptr<Waiter<>> waiter, BootTime when) {
    waiter_ = all_.waiters_.add(std::move(waiter));
    if (when == BootTime::max()) return;
    all_.lifecycle_.at(when, [&all = all_, number = waiter_] {
      all.waiters_.answer(all.lifecycle_.context(), number);
    });
  }

  SimTimerFactory& all_;
  std::uint64_t waiter_ = 0;
  bool woken_ = false;
};

bool SimTimerFactory::spins() {
  constexpr std::size_t kMost = 100'000;
  if (std::exchange(waited_at_, lifecycle_.now()) != lifecycle_.now()) waits_ = 0;
  if (++waits_ < kMost) return false;
  lifecycle_.timeline().fail("spin", lifecycle_.name() + " repeatedly waits for a past time");
  return true;
}

std::unique_ptr<WakeableTimer> SimTimerFactory::make() {
  return std::make_unique<One>(*this);
}

}  // namespace hapax::sim
