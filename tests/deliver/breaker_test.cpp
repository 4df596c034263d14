// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/breaker.hpp"

#include <gtest/gtest.h>

namespace hapax::deliver {

namespace {

using std::chrono::seconds;
using State = Breaker::State;

class BreakerTest : public testing::Test {
 protected:
  // Reports an attempt that took one second.
  void attempt(bool healthy) {
    const BootTime began = now_;
    now_ += seconds(1);
    breaker_.ended(healthy, began, now_);
  }
  void fail(int count) {
    for (int i = 0; i < count; ++i) attempt(false);
  }
  // Fails until the breaker opens, and advances to the end of the pause.
  void open_and_wait() {
    fail(10);
    ASSERT_EQ(breaker_.state(), State::open);
    now_ = breaker_.opens_at();
  }

  BootTime now_ = seconds(100);
  Breaker breaker_{BreakerLimits{}};
};

TEST_F(BreakerTest, OpensIfHalfOfAtLeastHalfAWindowFailed) {
  fail(9);
  EXPECT_EQ(breaker_.state(), State::closed) << "too few attempts";
  fail(1);
  EXPECT_EQ(breaker_.state(), State::open);
  EXPECT_EQ(breaker_.room(0, now_), 0U);
  EXPECT_EQ(breaker_.opens_at(), now_ + seconds(5));
}

TEST_F(BreakerTest, AFewFailuresAmongManyDoNotOpenIt) {
  for (int i = 0; i < 200; ++i) attempt(i % 5 != 0);
  EXPECT_EQ(breaker_.state(), State::closed);
}

TEST_F(BreakerTest, OnlyTheLastAttemptsCount) {
  for (int i = 0; i < 500; ++i) attempt(true);
  fail(9);
  EXPECT_EQ(breaker_.state(), State::closed);
  fail(1);
  EXPECT_EQ(breaker_.state(), State::open) << "half of the last twenty failed";
}

TEST_F(BreakerTest, AllowsOneProbeAfterThePause) {
  open_and_wait();
  EXPECT_EQ(breaker_.room(3, now_), 0U) << "in-flight attempts must end first";
  EXPECT_EQ(breaker_.state(), State::half_open);
  EXPECT_EQ(breaker_.room(0, now_), 1U);
  EXPECT_EQ(breaker_.room(1, now_), 0U) << "the probe is in flight";
}

TEST_F(BreakerTest, ASuccessfulProbeClosesIt) {
  open_and_wait();
  breaker_.room(0, now_);
  attempt(true);
  EXPECT_EQ(breaker_.state(), State::closed);
  EXPECT_GT(breaker_.room(5, now_), 1'000'000U);
  fail(9);
  EXPECT_EQ(breaker_.state(), State::closed) << "closing resets the window";
}

TEST_F(BreakerTest, AFailedProbeDoublesThePauseUpToTheLimit) {
  open_and_wait();
  BootTime pause{};
  for (const int expected : {10, 20, 40, 60, 60, 60}) {
    breaker_.room(0, now_);
    attempt(false);
    ASSERT_EQ(breaker_.state(), State::open);
    pause = breaker_.opens_at() - now_;
    EXPECT_EQ(pause, seconds(expected));
    now_ = breaker_.opens_at();
  }
  breaker_.room(0, now_);
  attempt(true);
  open_and_wait();
  breaker_.room(0, now_);
  attempt(false);
  EXPECT_EQ(breaker_.opens_at() - now_, seconds(10)) << "a successful probe resets the pause";
}

TEST_F(BreakerTest, AttemptsBegunBeforeOpeningDoNotCount) {
  const BootTime before = now_;
  open_and_wait();
  breaker_.ended(true, before, now_);
  EXPECT_EQ(breaker_.state(), State::open);
  breaker_.room(0, now_);
  breaker_.ended(true, before, now_);
  EXPECT_EQ(breaker_.state(), State::half_open) << "an earlier attempt is not the probe";
  breaker_.ended(false, before, now_);
  EXPECT_EQ(breaker_.state(), State::half_open);
}

TEST_F(BreakerTest, WithoutLimitsItNeverOpens) {
  breaker_ = Breaker(std::nullopt);
  fail(1000);
  EXPECT_EQ(breaker_.state(), State::closed);
}

TEST_F(BreakerTest, HasANameForEachState) {
  EXPECT_EQ(name(State::closed), "closed");
  EXPECT_EQ(name(State::open), "open");
  EXPECT_EQ(name(State::half_open), "half-open");
}

}  // namespace

}  // namespace hapax::deliver
