// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/numbers.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace hapax {
namespace {

TEST(EventNumbers, IncreaseEvenIfTheWallClockGoesBack) {
  test::ManualClock clock;
  EventNumbers numbers(clock, NodeNo(3));
  EventNo last = numbers.next();
  for (int i = 0; i < 20'000; ++i) {
    if (i == 5000) clock.jump_wall(std::chrono::hours(-1));
    if (i == 9000) clock.jump_wall(std::chrono::hours(2));
    const EventNo next = numbers.next();
    ASSERT_LT(last, next);
    last = next;
  }
}

TEST(EventNumbers, NumbersOfTwoNodesNeverCollide) {
  test::ManualClock clock;
  EventNumbers one(clock, NodeNo(0));
  EventNumbers other(clock, NodeNo(kMaxNode));
  std::set<EventNo> seen;
  for (int i = 0; i < 10'000; ++i) {
    seen.insert(one.next());
    seen.insert(other.next());
  }
  EXPECT_EQ(seen.size(), 20'000U);
}

TEST(EventNumbers, ANumberContainsItsCreationTime) {
  test::ManualClock clock;
  clock.jump_wall(std::chrono::hours(24 * 1000));
  EventNumbers numbers(clock, NodeNo(7));
  EXPECT_EQ(made_at(numbers.next()), std::chrono::floor<std::chrono::milliseconds>(clock.wall()));
}

TEST(EventNumbers, ThreadsGetDistinctNumbers) {
  test::ManualClock clock;
  EventNumbers numbers(clock, NodeNo(1));
  std::vector<std::vector<EventNo>> made(8);
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) mine.push_back(numbers.next());
    });
  }
  for (std::thread& each : threads) each.join();
  std::set<EventNo> all;
  for (const auto& mine : made) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 40'000U);
}

}  // namespace
}  // namespace hapax
