// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/store_time.hpp"

#include "store/sqlite/schema.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

namespace hapax::store::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ManualClock;

std::int64_t wall_ms(const Clock& clock) {
  return std::chrono::duration_cast<milliseconds>(clock.wall().time_since_epoch()).count();
}

class StoreTimeTest : public testing::Test {
 protected:
  StoreTimeTest() : db_(open_file(directory_.file("t.db"), seconds(1)).value()) {
    EXPECT_TRUE(migrate(db_.get()));
  }

  std::int64_t now(Clock& clock) {
    return StoreTime::prepare(db_.get(), clock).value().now_ms().value();
  }

  test::TempDir directory_;
  Handle db_;
};

TEST_F(StoreTimeTest, StartsAtTheWallClockAndGoesOnWithTheBootClock) {
  ManualClock clock;
  const std::int64_t start = now(clock);
  EXPECT_EQ(start, wall_ms(clock));
  clock.advance(milliseconds(1234));
  EXPECT_EQ(now(clock), start + 1234);
}

TEST_F(StoreTimeTest, AWallClockThatJumpsChangesNothing) {
  ManualClock clock;
  const std::int64_t start = now(clock);
  clock.jump_wall(hours(1));
  EXPECT_EQ(now(clock), start);
  clock.jump_wall(hours(-2));
  EXPECT_EQ(now(clock), start);
  clock.advance(seconds(3));
  EXPECT_EQ(now(clock), start + 3000);
}

TEST_F(StoreTimeTest, ANewBootStartsAtTheWallClock) {
  ManualClock before("boot-1");
  const std::int64_t start = now(before);
  ManualClock after("boot-2");
  after.advance(hours(5));
  EXPECT_EQ(now(after), start + 5LL * 3600 * 1000);
}

TEST_F(StoreTimeTest, ANewBootWithAWallClockInThePastGoesOnFromTheLastTimeSeen) {
  ManualClock before("boot-1");
  now(before);
  before.advance(hours(10));
  const std::int64_t last = now(before);
  ManualClock after("boot-2");
  EXPECT_EQ(now(after), last);
  after.advance(seconds(1));
  EXPECT_EQ(now(after), last + 1000);
}

TEST_F(StoreTimeTest, ProcessesOfOneBootShareOneTime) {
  ManualClock first("boot-1");
  const std::int64_t start = now(first);
  ManualClock second("boot-1");
  second.jump_wall(hours(100));
  EXPECT_EQ(now(second), start);
}

TEST_F(StoreTimeTest, ABootClockBehindTheLastTimeSeenDoesNotTakeTimeBack) {
  ManualClock ahead("boot-1");
  now(ahead);
  ahead.advance(hours(1));
  const std::int64_t last = now(ahead);
  ManualClock behind("boot-1");
  EXPECT_EQ(now(behind), last);
}

TEST(StoreTime, ClockJumpsOfAnHourNeitherEndNorFreezeAClaim) {
  const test::TempDir directory;
  ManualClock clock;
  Store store = open("sqlite:" + directory.file("t.db"), {.clock = &clock}).value();
  const DedupRequest request{.scope = "s", .id = "a", .ttl = seconds(10)};
  EXPECT_FALSE(store.dedup(request)->duplicate);
  clock.jump_wall(hours(1));
  EXPECT_TRUE(store.dedup(request)->duplicate);
  clock.jump_wall(hours(-2));
  EXPECT_TRUE(store.dedup(request)->duplicate);
  clock.advance(seconds(10));
  EXPECT_FALSE(store.dedup(request)->duplicate);
}

}  // namespace
}  // namespace hapax::store::sqlite
