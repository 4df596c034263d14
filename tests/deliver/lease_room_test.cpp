// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/lease_room.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

namespace hapax::deliver {
namespace {

class LeaseRoomTest : public testing::Test {
 protected:
  std::unique_ptr<LeaseRoom::Permit> take(std::int64_t destination, std::size_t most,
                                          std::size_t least = 1) {
    return std::make_unique<LeaseRoom::Permit>(
        room_, LeaseRoom::Permit::Request{DestinationNo(destination), most, least},
        [this] { ++granted_; });
  }

  LeaseRoom room_{100, 0};
  int granted_ = 0;
};

TEST_F(LeaseRoomTest, ADestinationGetsHalfOfTheMemoryLeftByOthers) {
  const auto first = take(1, 80);
  EXPECT_EQ(first->bytes(), 50U);
  const auto second = take(2, 80);
  EXPECT_EQ(second->bytes(), 25U);
  const auto third = take(3, 5);
  EXPECT_EQ(third->bytes(), 5U);
  EXPECT_EQ(take(1, 80)->bytes(), 0U) << "destination 1 has its share already";
  EXPECT_EQ(room_.taken(), 80U);
}

TEST_F(LeaseRoomTest, AWaitingPermitIsGrantedWhenMemoryIsFree) {
  auto first = take(1, 40);
  const auto large = take(1, 30, 20);
  const auto small = take(1, 30, 10);
  EXPECT_EQ(large->bytes(), 0U);
  EXPECT_EQ(small->bytes(), 10U) << "the remaining ten bytes suffice for this request";
  EXPECT_EQ(granted_, 0);
  first.reset();
  EXPECT_EQ(granted_, 1);
  EXPECT_EQ(large->bytes(), 30U);
  EXPECT_EQ(room_.taken(), 40U);
}

TEST_F(LeaseRoomTest, UnusedMemoryGoesToTheNext) {
  const auto first = take(1, 50);
  const auto second = take(1, 50);
  EXPECT_EQ(second->bytes(), 0U);
  first->resize(10);
  EXPECT_EQ(granted_, 1);
  EXPECT_EQ(second->bytes(), 40U);
  second->resize(200);  // an event may be larger than expected
  EXPECT_EQ(take(1, 1)->bytes(), 0U);
  EXPECT_EQ(take(2, 1)->bytes(), 0U);
}

TEST_F(LeaseRoomTest, ADestroyedPermitLeavesTheQueue) {
  auto first = take(1, 50);
  take(1, 50);
  auto second = take(1, 50);
  first.reset();
  EXPECT_EQ(granted_, 1);
  EXPECT_EQ(second->bytes(), 50U);
  second.reset();
  EXPECT_EQ(room_.taken(), 0U);
}

// If each destination got half of the rest, six of them would use up all memory.
TEST(LeaseRoomOfANode, UnreadResponsesLeaveMemoryForOtherDestinations) {
  constexpr std::size_t kOne = std::size_t{1408} * 1024;
  LeaseRoom room;
  std::deque<LeaseRoom::Permit> unread;
  for (std::int64_t i = 1; i <= 22; ++i) {
    const LeaseRoom::Permit::Request wish{DestinationNo(i), kMaxLeaseRoom, kOne};
    EXPECT_GE(unread.emplace_back(room, wish, [] {}).bytes(), kOne) << i;
  }
  EXPECT_LE(room.taken(), std::size_t{120} * 1024 * 1024);
}

}  // namespace
}  // namespace hapax::deliver
