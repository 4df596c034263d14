// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/rejects.hpp"

#include "gateway/source_of.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax::gateway {

namespace {

class RejectQueueTest : public testing::Test {
 protected:
  // Offers `count` rejects; returns how many are accepted.
  int offer(const Source& source, const std::string& address, int count,
            const std::string& body = "body") {
    int taken = 0;
    for (int i = 0; i < count; ++i) {
      if (!queue_.reserve(source, address, body.size())) continue;
      queue_.add({.source = source.no, .source_name = source.name, .body = body});
      ++taken;
    }
    return taken;
  }
  void drain() {
    while (queue_.take(1000, 1 << 20).more) {
    }
  }

  test::ManualClock clock_;
  RejectQueue queue_{clock_};
  const Source demo_ = test::source_of("demo", 1);
  const Source other_ = test::source_of("other", 2);
};

TEST_F(RejectQueueTest, OneSenderCanFillTheRejectsOfItsSource) {
  EXPECT_GE(offer(demo_, "a", 10'000), 10'000);
}

TEST_F(RejectQueueTest, AFloodIsAcceptedAtALimitedRate) {
  int taken = 0;
  for (int i = 0; i < 20; ++i) {
    taken += offer(demo_, "a", 1000);
    drain();
  }
  clock_.advance(std::chrono::seconds(10));
  const int later = offer(demo_, "a", 5000);
  EXPECT_GT(later, 2000);
  EXPECT_LE(later, 2501);
  EXPECT_LE(taken, static_cast<int>(RejectQueue::kBurst));
}

TEST_F(RejectQueueTest, DroppedRejectsAreCounted) {
  const int taken = offer(demo_, "a", 30'000);
  RejectQueue::Batch batch = queue_.take(10, 1 << 20);
  EXPECT_EQ(batch.rejects.size(), 10U);
  EXPECT_TRUE(batch.more);
  ASSERT_EQ(batch.dropped.size(), 1U);
  EXPECT_EQ(batch.dropped[SourceNo(1)].count, 30'000U - static_cast<unsigned>(taken));
  EXPECT_EQ(batch.dropped[SourceNo(1)].source_name, "demo");
  EXPECT_TRUE(queue_.take(10, 1 << 20).dropped.empty()) << "each drop is reported once";
}

TEST_F(RejectQueueTest, AFloodFromOneAddressDoesNotAffectAnother) {
  for (int i = 0; i < 20; ++i) {
    offer(demo_, "flood", 1000);
    drain();
  }
  EXPECT_EQ(offer(demo_, "flood", 100), 0);
  EXPECT_EQ(offer(demo_, "true sender", 1000), 1000);
}

TEST_F(RejectQueueTest, AddressesAreLimitedPerNetwork) {
  EXPECT_EQ(gateway::network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(gateway::network_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(gateway::network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(gateway::network_of("2001:db8:1:2::1"), gateway::network_of("2001:db8:1:2:ffff::"));
  EXPECT_NE(gateway::network_of("2001:db8:1:2::1"), gateway::network_of("2001:db8:1:3::1"));
  EXPECT_EQ(gateway::network_of("::1"), "::/64");
  EXPECT_EQ(gateway::network_of(""), "");
}

TEST_F(RejectQueueTest, AFloodOfOneSourceDoesNotAffectOthers) {
  for (int i = 0; i < 20; ++i) {
    offer(demo_, "a", 1000);
    drain();
  }
  EXPECT_EQ(offer(other_, "a", 5000), 5000);
}

// The rejects of other sources may be genuine events, to be re-admitted once a secret is fixed.
TEST_F(RejectQueueTest, LargeRejectsOfOneSourceLeaveMemoryForOthers) {
  const std::string large(1 << 20, 'b');
  EXPECT_EQ(offer(demo_, "a", 40, large), 16);
  EXPECT_EQ(offer(other_, "b", 80), 80);
  EXPECT_EQ(offer(other_, "b", 40, large), 8) << "half of the free memory";
  EXPECT_EQ(offer(demo_, "a", 1), 0) << "the source has more than its share";
  drain();
  EXPECT_EQ(offer(demo_, "a", 1, large), 1);
}

// Otherwise the store would keep overwriting its rejects: it retains 64 MiB per source.
TEST_F(RejectQueueTest, AFloodOfLargeRejectsIsLimitedByBytes) {
  const std::string large(1 << 20, 'b');
  int taken = 0;
  for (int i = 0; i < 200; ++i) {
    taken += offer(demo_, "a", 8, large);
    drain();
  }
  EXPECT_GE(taken, 32);
  EXPECT_LE(taken, 64);
  clock_.advance(std::chrono::seconds(10));
  EXPECT_LE(offer(demo_, "a", 16, large), 10) << "2500 units, and each reject costs 257";
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(offer(other_, "a", 1, std::string(100 << 20, 'b')), 1) << "larger than any burst";
}

TEST_F(RejectQueueTest, MemoryIsBoundedByNumberAndByBytes) {
  for (std::int64_t source = 1; source <= 16; ++source) {
    const Source each = test::source_of("s" + std::to_string(source), source);
    for (int i = 0; i < 40; ++i) offer(each, std::to_string(i), 500);
  }
  std::size_t held = 0;
  for (bool more = true; more;) {
    const RejectQueue::Batch batch = queue_.take(1000, 1 << 20);
    held += batch.rejects.size();
    more = batch.more;
  }
  EXPECT_LE(held, RejectQueue::kMaxRejects);
  EXPECT_GT(held, RejectQueue::kMaxRejects * 9 / 10);
  clock_.advance(std::chrono::minutes(10));
  EXPECT_EQ(offer(demo_, "a", 100, std::string(1 << 20, 'b')), 16) << "half of the bytes";
}

TEST_F(RejectQueueTest, ABatchIsBoundedByBytes) {
  offer(demo_, "a", 10, std::string(1000, 'b'));
  EXPECT_EQ(queue_.take(100, 3500).rejects.size(), 4U);
}

}  // namespace

}  // namespace hapax::gateway
