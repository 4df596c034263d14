// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/store_time.hpp"

#include "store/sqlite/file/schema.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

namespace hapax::store::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
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
  std::string note() {
    Statement query =
        Statement::prepare(db_.get(),
                           "SELECT boot_id || ' ' || boot_ms || ' ' || wall_ms || ' ' || store_ms"
                           " || ' ' || last_ms FROM hapax_clock")
            .value();
    sqlite::Run row(query);
    EXPECT_TRUE(row.step("read the reference").value());
    return std::string(row.bytes(0));
  }

  test::TempDir directory_;
  Handle db_;
};

TEST_F(StoreTimeTest, StartsAtTheWallClockAndContinuesWithTheBootClock) {
  ManualClock clock;
  const std::int64_t start = now(clock);
  EXPECT_EQ(start, wall_ms(clock));
  clock.advance(milliseconds(1234));
  EXPECT_EQ(now(clock), start + 1234);
}

TEST_F(StoreTimeTest, AWallClockJumpChangesNothing) {
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

TEST_F(StoreTimeTest, ANewBootWithAWallClockInThePastContinuesFromTheLastTimeSeen) {
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

TEST_F(StoreTimeTest, ABootClockBehindTheLastTimeSeenNeverMovesTimeBackwards) {
  ManualClock ahead("boot-1");
  now(ahead);
  ahead.advance(hours(1));
  const std::int64_t last = now(ahead);
  ManualClock behind("boot-1");
  EXPECT_EQ(now(behind), last);
}

// The rule of 60 seconds, to the millisecond.
TEST_F(StoreTimeTest, ClocksThatDifferByUpToAMinuteFollowTheBootClock) {
  ManualClock clock;
  const std::int64_t start = now(clock);
  clock.jump_wall(-seconds(60));
  clock.advance(seconds(90));
  EXPECT_EQ(now(clock), start + 90'000);
  clock.jump_wall(-seconds(60) - milliseconds(1));
  clock.advance(seconds(90));
  EXPECT_EQ(now(clock), start + 90'000 + 29'999);
}

TEST_F(StoreTimeTest, TheReferenceIsRewrittenAfterASecondOrWhenTheClocksDifferByMoreThanOne) {
  ManualClock clock;
  now(clock);
  const std::string first = note();
  clock.advance(milliseconds(999));
  clock.jump_wall(seconds(1));
  now(clock);
  EXPECT_EQ(note(), first);
  clock.jump_wall(milliseconds(1));
  now(clock);
  EXPECT_NE(note(), first);
  const std::string second = note();
  clock.advance(milliseconds(1000));
  now(clock);
  EXPECT_NE(note(), second);
}

TEST_F(StoreTimeTest, ReadersSeeTheSameTimeAndWriteNothing) {
  ManualClock clock;
  now(clock);
  const std::string before = note();
  StoreTime reader = StoreTime::prepare(db_.get(), clock).value();
  for (const auto jump : {seconds(0), seconds(100'000), seconds(-200'000)}) {
    clock.jump_wall(jump);
    clock.advance(seconds(2));
    const std::int64_t seen = reader.peek_ms().value();
    EXPECT_EQ(note(), before);
    ASSERT_TRUE(execute(db_.get(), "BEGIN", "test"));
    EXPECT_EQ(now(clock), seen);
    ASSERT_TRUE(execute(db_.get(), "ROLLBACK", "test"));
  }
}

// The reference as written up to version 5: without a wall clock, and with a separate last time.
class OldStoreTimeTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNotedMs = 1'699'999'999'000;  // a second before a ManualClock
  static constexpr std::int64_t kDayMs = 86'400'000;

  // A reference from one hour earlier in boot-1, and a last time at the boot clock `boot_ms`.
  void migrate_old(std::int64_t boot_ms, std::int64_t noted_ms) {
    const std::string sql =
        "CREATE TABLE hapax_schema(version INTEGER NOT NULL); INSERT INTO hapax_schema VALUES(1);"
        "CREATE TABLE hapax_clock(one INTEGER PRIMARY KEY CHECK (one = 1), boot_id TEXT NOT NULL,"
        " boot_ms INTEGER NOT NULL, store_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL);"
        "INSERT INTO hapax_clock VALUES(1, 'boot-1', " +
        std::to_string(boot_ms - 3'600'000) + ", " + std::to_string(noted_ms - 3'600'000) + ", " +
        std::to_string(noted_ms) + ")";
    ASSERT_TRUE(execute(db_.get(), sql.c_str(), "make an old store"));
    ASSERT_TRUE(migrate(db_.get()));
  }
  std::int64_t now(Clock& clock) {
    return StoreTime::prepare(db_.get(), clock).value().now_ms().value();
  }

  test::TempDir directory_;
  Handle db_ = open_file(directory_.file("t.db"), seconds(1)).value();
};

TEST_F(OldStoreTimeTest, WithinABootItFollowsTheBootClock) {
  migrate_old(4000, kNotedMs);
  ManualClock clock("boot-1");
  EXPECT_EQ(now(clock), kNotedMs + 1000);
  clock.advance(hours(3));
  EXPECT_EQ(now(clock), kNotedMs + 1000 + 3LL * 3'600'000);
}

// A pause of 40 days, which the old rule added back at the next boot.
TEST_F(OldStoreTimeTest, AStoreThatFellBehindIsNotAdvancedInTheSameBoot) {
  migrate_old(4000, kNotedMs - 40 * kDayMs);
  ManualClock clock("boot-1");
  EXPECT_EQ(now(clock), kNotedMs - 40 * kDayMs + 1000);
  ManualClock later("boot-2");
  later.advance(minutes(1));
  EXPECT_EQ(now(later), kNotedMs - 40 * kDayMs + 1000 + 60'000);
}

TEST_F(OldStoreTimeTest, AStoreThatFellBehindIsNotAdvancedInAnotherBoot) {
  migrate_old(4000, kNotedMs - 40 * kDayMs);
  ManualClock clock("boot-2");
  EXPECT_EQ(now(clock), kNotedMs - 40 * kDayMs);
  clock.advance(seconds(1));
  EXPECT_EQ(now(clock), kNotedMs - 40 * kDayMs + 1000);
  ManualClock later("boot-3");
  later.advance(minutes(1));
  EXPECT_EQ(now(later), kNotedMs - 40 * kDayMs + 60'000)
      << "the wall clock is in the reference by then";
}

TEST_F(OldStoreTimeTest, ASnapshotWithANewerBootClockExpiresNothingInTheSameBoot) {
  migrate_old(4000, kNotedMs);
  ManualClock ahead("boot-1");
  ahead.advance(40 * days);
  ahead.jump_wall(-40 * days);
  EXPECT_EQ(now(ahead), kNotedMs + 1000) << "by the wall clock";
}

TEST_F(OldStoreTimeTest, AnUnusedStoreStartsAtTheWallClock) {
  ASSERT_TRUE(execute(db_.get(),
                      "CREATE TABLE hapax_schema(version); INSERT INTO hapax_schema VALUES(1);"
                      "CREATE TABLE hapax_clock(one INTEGER PRIMARY KEY, boot_id, boot_ms,"
                      " store_ms, last_ms); INSERT INTO hapax_clock VALUES(1, '', 0, 0, 0)",
                      "make an old store"));
  ASSERT_TRUE(migrate(db_.get()));
  ManualClock clock;
  EXPECT_EQ(now(clock), wall_ms(clock));
}

// The older version has the file open, updates only `last_ms`, and computes the time from the
// stored pair of boot clock and store time.
TEST_F(OldStoreTimeTest, ARunningOlderVersionSeesTheSameTime) {
  migrate_old(4000, kNotedMs);
  ManualClock clock("boot-1");
  now(clock);
  clock.advance(minutes(5));
  ASSERT_TRUE(execute(db_.get(), "UPDATE hapax_clock SET last_ms = store_ms + 300000", "note"));
  EXPECT_EQ(now(clock), kNotedMs + 1000 + 300'000);
  clock.advance(seconds(7));
  Statement old =
      Statement::prepare(db_.get(), "SELECT max(store_ms + ?1 - boot_ms, last_ms) FROM hapax_clock")
          .value();
  sqlite::Run row(old);
  const std::int64_t boot_ms = clock.since_boot().count() / 1000;
  ASSERT_TRUE(row.bind(boot_ms).step("read the time").value());
  EXPECT_EQ(row.number(0), now(clock));
}

TEST(StoreTime, ClockJumpsOfAnHourNeitherExpireNorExtendAClaim) {
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
