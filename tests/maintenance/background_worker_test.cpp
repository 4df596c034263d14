// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/background_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace hapax::maintenance {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(BackgroundWorker, RunsRoundsUntilStopped) {
  std::latch three(3);
  std::atomic<int> rounds = 0;
  BackgroundWorker worker([&] {
    if (++rounds <= 3) three.count_down();
    return milliseconds(0);
  });
  worker.start();
  three.wait();
  EXPECT_TRUE(worker.stop());
  EXPECT_GE(rounds, 3);
}

// If stop() does not end the pause between rounds, this test hangs. The test cannot observe when a
// pause begins, so it repeats.
TEST(BackgroundWorker, StopEndsAPauseAtOnce) {
  for (int i = 0; i < 50; ++i) {
    std::latch worked(1);
    BackgroundWorker worker([&] {
      worked.count_down();
      return hours(24);
    });
    worker.start();
    worked.wait();
    EXPECT_TRUE(worker.stop());
  }
}

TEST(BackgroundWorker, StopWaitsForTheCurrentRound) {
  std::latch begun(1);
  std::latch may_end(1);
  bool ended = false;
  BackgroundWorker worker([&] {
    begun.count_down();
    may_end.wait();
    ended = true;
    return hours(24);
  });
  worker.start();
  begun.wait();
  std::thread other([&] { may_end.count_down(); });
  EXPECT_TRUE(worker.stop());
  EXPECT_TRUE(ended);
  other.join();
}

TEST(BackgroundWorker, StopReportsWhetherItWasRunning) {
  BackgroundWorker worker([] { return hours(24); });
  EXPECT_FALSE(worker.stop());
  BackgroundWorker started([] { return hours(24); });
  started.start();
  EXPECT_TRUE(started.stop());
  EXPECT_FALSE(started.stop());
}

TEST(BackgroundWorker, TheDestructorStopsIt) {
  std::latch worked(1);
  BackgroundWorker worker([&] {
    worked.count_down();
    return hours(24);
  });
  worker.start();
  worked.wait();
}

}  // namespace
}  // namespace hapax::maintenance
