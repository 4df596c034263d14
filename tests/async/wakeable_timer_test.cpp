// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/wakeable_timer.hpp"

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

// A wait ends when the timer is woken or at its deadline, never earlier.
namespace hapax {

namespace {

namespace asio = boost::asio;
constexpr BootTime kForever = BootTime::max();

class WakeableTimerTest : public testing::Test {
 protected:
  static Task<void> wait(WakeableTimer& timer, BootTime when, int& woken) {
    co_await timer.wait_until(when);
    ++woken;
  }
  void start(BootTime when) {
    asio::co_spawn(context_.get_executor(), wait(*timer_, when, woken_), asio::detached);
    poll();
  }
  void poll() {
    context_.restart();
    context_.poll();
  }

  asio::io_context context_{1};
  std::unique_ptr<Clock> clock_ = make_system_clock();
  std::unique_ptr<TimerFactory> timers_ = make_timer_factory(context_.get_executor(), *clock_);
  std::unique_ptr<WakeableTimer> timer_ = timers_->make();
  int woken_ = 0;
};

TEST_F(WakeableTimerTest, WakingEndsTheWait) {
  start(kForever);
  EXPECT_EQ(woken_, 0);
  timer_->wake();
  poll();
  EXPECT_EQ(woken_, 1);
  start(kForever);
  EXPECT_EQ(woken_, 1) << "the earlier wake() was consumed";
  timer_->wake();
  poll();
  EXPECT_EQ(woken_, 2);
}

TEST_F(WakeableTimerTest, AWakeBeforeTheWaitCountsOnce) {
  timer_->wake();
  timer_->wake();
  start(kForever);
  EXPECT_EQ(woken_, 1);
  start(kForever);
  EXPECT_EQ(woken_, 1);
  timer_->wake();
  poll();
}

TEST_F(WakeableTimerTest, APastDeadlineDoesNotWait) {
  start(BootTime(0));
  EXPECT_EQ(woken_, 1);
}

TEST_F(WakeableTimerTest, EndsAtTheDeadlineAndNotEarlier) {
  const BootTime when = clock_->since_boot() + std::chrono::milliseconds(20);
  start(when);
  context_.restart();
  context_.run();
  EXPECT_EQ(woken_, 1);
  EXPECT_GE(clock_->since_boot(), when);
}

}  // namespace

}  // namespace hapax
