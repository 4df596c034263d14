// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "env/background_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <semaphore>
#include <vector>

namespace hapax {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(BackgroundThread, RunsRoundsUntilStopped) {
  std::latch three(3);
  std::atomic<int> rounds = 0;
  BackgroundThread thread([&] {
    if (++rounds <= 3) three.count_down();
    return milliseconds(0);
  });
  thread.start();
  three.wait();
  EXPECT_TRUE(thread.stop());
  EXPECT_GE(rounds, 3);
}

// If stop() does not end the pause between rounds, this test hangs. The test cannot observe when a
// pause begins, so it repeats.
TEST(BackgroundThread, StopEndsAPauseAtOnce) {
  for (int i = 0; i < 50; ++i) {
    std::latch worked(1);
    BackgroundThread thread([&] {
      worked.count_down();
      return hours(24);
    });
    thread.start();
    worked.wait();
    EXPECT_TRUE(thread.stop());
  }
}

TEST(BackgroundThread, StopWaitsForTheCurrentRound) {
  std::latch begun(1);
  std::latch may_end(1);
  bool ended = false;
  BackgroundThread thread([&] {
    begun.count_down();
    may_end.wait();
    ended = true;
    return hours(24);
  });
  thread.start();
  begun.wait();
  std::thread other([&] { may_end.count_down(); });
  EXPECT_TRUE(thread.stop());
  EXPECT_TRUE(ended);
  other.join();
}

TEST(BackgroundThread, StopReportsWhetherItWasRunning) {
  BackgroundThread thread([] { return hours(24); });
  EXPECT_FALSE(thread.stop());
  BackgroundThread started([] { return hours(24); });
  started.start();
  EXPECT_TRUE(started.stop());
  EXPECT_FALSE(started.stop());
}

// If wake() does not end the pause, this test hangs.
TEST(BackgroundThread, WakeEndsAPauseAtOnce) {
  std::counting_semaphore<> rounds(0);
  BackgroundThread thread([&] {
    rounds.release();
    return BackgroundThread::kUntilWoken;
  });
  thread.start();
  for (int i = 0; i < 50; ++i) {
    rounds.acquire();
    thread.wake();
  }
}

TEST(BackgroundThread, AWakeDuringARoundEndsTheNextPause) {
  std::latch second(2);
  BackgroundThread* self = nullptr;
  BackgroundThread thread([&] {
    self->wake();
    if (!second.try_wait()) second.count_down();
    return BackgroundThread::kUntilWoken;
  });
  self = &thread;
  thread.start();
  second.wait();
}

TEST(BackgroundThread, ARoundSeesThatItShouldEnd) {
  std::latch begun(1);
  BackgroundThread* self = nullptr;
  BackgroundThread thread([&] {
    begun.count_down();
    while (!self->is_stopping()) std::this_thread::yield();
    return hours(24);
  });
  self = &thread;
  EXPECT_FALSE(thread.is_stopping());
  thread.start();
  begun.wait();
  EXPECT_TRUE(thread.stop());
  EXPECT_TRUE(thread.is_stopping());
}

TEST(BackgroundThread, ManyThreadsMayWakeIt) {
  std::atomic<int> wanted = 0;
  std::atomic<int> seen = 0;
  std::latch all(1);
  constexpr int kAll = 400;
  BackgroundThread thread([&] {
    seen = wanted.load();
    if (seen == kAll && !all.try_wait()) all.count_down();
    return BackgroundThread::kUntilWoken;
  });
  thread.start();
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < kAll / 4; ++j) {
        ++wanted;
        thread.wake();
      }
    });
  }
  for (std::thread& each : callers) each.join();
  all.wait();
}

TEST(BackgroundThread, TheDestructorStopsIt) {
  std::latch worked(1);
  BackgroundThread thread([&] {
    worked.count_down();
    return hours(24);
  });
  thread.start();
  worked.wait();
}

}  // namespace
}  // namespace hapax
