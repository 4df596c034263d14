// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "commit/alarm.hpp"

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

// An alarm ends a wait when it rings, or when it is time; never before.
namespace hapax {

namespace {

namespace asio = boost::asio;
constexpr BootTime kForever = BootTime::max();

class AlarmTest : public testing::Test {
 protected:
  static Task<void> wait(Alarm& alarm, BootTime when, int& woken) {
    co_await alarm.wait_until(when);
    ++woken;
  }
  void start(BootTime when) {
    asio::co_spawn(context_.get_executor(), wait(*alarm_, when, woken_), asio::detached);
    poll();
  }
  void poll() {
    context_.restart();
    context_.poll();
  }

  asio::io_context context_{1};
  std::unique_ptr<Clock> clock_ = make_system_clock();
  std::unique_ptr<Alarms> alarms_ = make_alarms(context_.get_executor(), *clock_);
  std::unique_ptr<Alarm> alarm_ = alarms_->make();
  int woken_ = 0;
};

TEST_F(AlarmTest, RingingEndsTheWait) {
  start(kForever);
  EXPECT_EQ(woken_, 0);
  alarm_->ring();
  poll();
  EXPECT_EQ(woken_, 1);
  start(kForever);
  EXPECT_EQ(woken_, 1) << "that ring was heard";
  alarm_->ring();
  poll();
  EXPECT_EQ(woken_, 2);
}

TEST_F(AlarmTest, WhatRangBeforeTheWaitIsHeardOnce) {
  alarm_->ring();
  alarm_->ring();
  start(kForever);
  EXPECT_EQ(woken_, 1);
  start(kForever);
  EXPECT_EQ(woken_, 1);
  alarm_->ring();
  poll();
}

TEST_F(AlarmTest, ATimeThatIsPastIsNoWait) {
  start(BootTime(0));
  EXPECT_EQ(woken_, 1);
}

TEST_F(AlarmTest, EndsByItselfWhenItIsTimeAndNotBefore) {
  const BootTime when = clock_->since_boot() + std::chrono::milliseconds(20);
  start(when);
  context_.restart();
  context_.run();
  EXPECT_EQ(woken_, 1);
  EXPECT_GE(clock_->since_boot(), when);
}

}  // namespace

}  // namespace hapax
