// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/polls.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace hapax::deliver {
namespace {

using Permits = std::deque<Polls::Permit>;

// Acquires permits for a destination until none is granted, like the polls of a busy fleet.
void take_all(Polls& polls, DestinationNo to, Permits& permits) {
  for (;;) {
    permits.emplace_back(polls, to);
    if (permits.back()) continue;
    permits.pop_back();
    return;
  }
}

TEST(PollsTest, ADestinationGetsHalfOfTheRemainingPermits) {
  Polls polls(64);
  Permits one, two, three;
  take_all(polls, DestinationNo(1), one);
  EXPECT_EQ(one.size(), 32U);
  take_all(polls, DestinationNo(2), two);
  EXPECT_EQ(two.size(), 16U);
  take_all(polls, DestinationNo(3), three);
  EXPECT_EQ(three.size(), 8U);
  take_all(polls, DestinationNo(1), one);
  EXPECT_EQ(one.size(), 32U) << "the largest holder gets no more permits";
}

TEST(PollsTest, BusyDestinationsConvergeToEqualShares) {
  Polls polls(64);
  std::deque<Permits> fleets(3);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < fleets.size(); ++i) {
      if (!fleets[i].empty()) fleets[i].pop_front();  // one poll is answered
      take_all(polls, DestinationNo(static_cast<std::int64_t>(i + 1)), fleets[i]);
    }
  }
  for (const Permits& each : fleets) EXPECT_EQ(each.size(), 16U);
}

TEST(PollsTest, AReleasedPermitCanBeReused) {
  Polls polls(8);
  Permits one, two;
  take_all(polls, DestinationNo(1), one);
  take_all(polls, DestinationNo(2), two);
  one.clear();
  two.clear();
  take_all(polls, DestinationNo(2), two);
  EXPECT_EQ(two.size(), 4U);
}

TEST(PollsTest, ThePermitLimitHoldsForManyDestinations) {
  Polls polls(3);
  Permits permits;
  for (std::int64_t to = 1; to <= 10; ++to) take_all(polls, DestinationNo(to), permits);
  EXPECT_LE(permits.size(), 3U);
}

}  // namespace
}  // namespace hapax::deliver
