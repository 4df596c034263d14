// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/wakeable_timer.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <utility>

namespace hapax {

namespace {

namespace asio = boost::asio;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// The steady clock stops while the machine is suspended and `clock` may not: check it every minute.
constexpr BootTime kLongest = std::chrono::minutes(1);

class AsioTimer final : public WakeableTimer {
 public:
  AsioTimer(const Executor& executor, Clock& clock) : timer_(executor), clock_(clock) {}

  Task<void> wait_until(BootTime when) override {
    boost::system::error_code ignored;
    for (BootTime now = clock_.since_boot(); !woken_ && now < when; now = clock_.since_boot()) {
      timer_.expires_after(std::min(when - now, kLongest));
      co_await timer_.async_wait(asio::redirect_error(kUseTask, ignored));
    }
    woken_ = false;
  }

  void wake() override {
    woken_ = true;
    timer_.cancel();
  }

 private:
  Timer timer_;
  Clock& clock_;
  bool woken_ = false;
};

class AsioTimerFactory final : public TimerFactory {
 public:
  AsioTimerFactory(Executor executor, Clock& clock)
      : executor_(std::move(executor)), clock_(clock) {}
  std::unique_ptr<WakeableTimer> make() override {
    return std::make_unique<AsioTimer>(executor_, clock_);
  }

 private:
  Executor executor_;
  Clock& clock_;
};

}  // namespace

std::unique_ptr<TimerFactory> make_timer_factory(const Executor& executor, Clock& clock) {
  return std::make_unique<AsioTimerFactory>(executor, clock);
}

}  // namespace hapax
