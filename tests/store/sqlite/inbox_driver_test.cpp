// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/driver.hpp"

#include "store/sqlite/file/connection.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

// Specific to SQLite's inbox. The behavior common to all stores is tested in compliance/.
namespace hapax::store::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SqliteInboxTest : public testing::Test {
 protected:
  Driver open_another() { return open_driver(file_, {}, clock_).value(); }

  // Requests of one event each; owns their data.
  struct Requests {
    std::deque<std::string> ids;
    std::vector<Arrival> arrivals;
    std::vector<Admit> admits;
    Target target{DestinationNo(1)};
  };
  static Requests requests(const std::vector<std::int64_t>& numbers, std::string_view lane = "") {
    Requests made;
    for (const std::int64_t no : numbers) {
      const std::string& id = made.ids.emplace_back("id-" + std::to_string(no));
      made.arrivals.push_back({.no = EventNo(no),
                               .source = SourceNo(1),
                               .key = id,
                               .id = id,
                               .order_key = lane,
                               .body = "body"});
    }
    return made;
  }
  static std::span<const Admit> admits(Requests& made) {
    for (Arrival& each : made.arrivals) {
      each.targets = std::span(&made.target, 1);
      made.admits.push_back({.arrivals = std::span(&each, 1)});
    }
    return made.admits;
  }
  void admit(const std::vector<std::int64_t>& numbers, std::string_view lane = "") {
    Requests made = requests(numbers, lane);
    for (const AdmitAnswer& each : driver_.queue->write({.admit = admits(made)}).admit) {
      ASSERT_TRUE(each) << each.error().to_string();
      EXPECT_EQ(each->front().kind, Admission::Kind::fresh);
    }
  }

  static std::vector<Leased> lease(const Driver& driver, std::size_t max) {
    const LeaseRequest request{
        .from = DestinationNo(1), .max = max, .lease = seconds(30), .holder = {}};
    return driver.queue->write({.lease = std::span(&request, 1)}).lease.value().front().deliveries;
  }
  static Settled settle(const Driver& driver, const Leased& lease, const Disposition& disposition) {
    const Settlement settlement{{lease.event.no, lease.delivery}, lease.fence, disposition};
    return driver.queue->write({.settle = std::span(&settlement, 1)}).settle.value().front();
  }

  void change(const char* sql) {
    const Handle db = open_file(file_, seconds(5)).value();
    const Result<void> done = execute(db.get(), sql, "test");
    EXPECT_TRUE(done) << done.error().to_string();
  }

  std::int64_t count(const std::string& table) {
    const Handle db = open_file(file_, seconds(5)).value();
    Statement query =
        Statement::prepare(db.get(), std::string("SELECT count(*) FROM ").append(table)).value();
    sqlite::Run row(query);
    EXPECT_TRUE(row.step("count").value());
    return row.number(0);
  }

  test::TempDir directory_;
  test::ManualClock clock_;
  std::string file_ = directory_.file("inbox.db");
  Driver driver_ = open_another();
};

TEST_F(SqliteInboxTest, ItReportsItsCapabilities) {
  for (const Capability each : {Capability::dedup, Capability::inbox, Capability::outbox}) {
    EXPECT_TRUE(driver_.capabilities().has(each)) << name(each);
  }
}

// Two nodes shared a node number, so the number of one request belongs to another event. The rest
// of the transaction must not fail with it.
TEST_F(SqliteInboxTest, ARejectedRequestFailsNoOther) {
  admit({5});
  Requests made = requests({1, 2, 5, 3});
  made.arrivals[2].key = made.arrivals[2].id = "another";
  const LeaseRequest lease{.from = DestinationNo(1), .max = 10, .lease = seconds(30), .holder = {}};
  const Answers answers =
      driver_.queue->write({.admit = admits(made), .lease = std::span(&lease, 1)});
  ASSERT_EQ(answers.admit.size(), 4U);
  for (const std::size_t good : {0U, 1U, 3U}) EXPECT_TRUE(answers.admit[good]) << good;
  ASSERT_FALSE(answers.admit[2]);
  EXPECT_EQ(answers.admit[2].error().code(), Code::store_busy);
  EXPECT_EQ(answers.lease->front().deliveries.size(), 4U);
  const WantedIdentity wanted{SourceNo(1), "", "another"};
  EXPECT_EQ(driver_.catalog->find(std::span(&wanted, 1))->front(), std::nullopt)
      << "a refused request claims nothing";
}

// A queue row without its event.
TEST_F(SqliteInboxTest, ADamagedDeliveryFailsOnlyTheLeases) {
  admit({1});
  change("DELETE FROM hapax_event WHERE no = 1");
  Requests made = requests({2, 3});
  const LeaseRequest lease{.from = DestinationNo(1), .max = 10, .lease = seconds(30), .holder = {}};
  const Answers answers =
      driver_.queue->write({.admit = admits(made), .lease = std::span(&lease, 1)});
  ASSERT_FALSE(answers.lease);
  EXPECT_EQ(answers.lease.error().code(), Code::store_corrupt);
  for (const AdmitAnswer& each : answers.admit) EXPECT_TRUE(each) << each.error().to_string();
  EXPECT_EQ(count("hapax_event"), 2);
}

// A claim whose token is too short.
TEST_F(SqliteInboxTest, ADamagedClaimFailsOnlyItsOwnCall) {
  const DedupItem first{"dkey", Token{{1}}, hours(1)};
  ASSERT_TRUE(driver_.claims->dedup(std::span(&first, 1)));
  change("UPDATE hapax_claim SET token = x'01'");
  const DedupItem again{"dkey", Token{{2}}, hours(1)};
  const Result<std::vector<Dedup>> damaged = driver_.claims->dedup(std::span(&again, 1));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), Code::store_corrupt);
  const DedupItem other{"other", Token{{3}}, hours(1)};
  EXPECT_TRUE(driver_.claims->dedup(std::span(&other, 1)));
}

TEST_F(SqliteInboxTest, FencesGrowAcrossTwoHandlesWithAStoppedClock) {
  admit({1, 2, 3, 4});
  const Driver other = open_another();
  std::int64_t last = 0;
  for (const Driver& each : {driver_, other, driver_, other}) {
    const std::vector<Leased> leased = lease(each, 1);
    ASSERT_EQ(leased.size(), 1U);
    EXPECT_GT(leased.front().fence.value(), last);
    last = leased.front().fence.value();
  }
}

TEST_F(SqliteInboxTest, FencesFollowTheStoresTime) {
  admit({1, 2});
  const std::int64_t first = lease(driver_, 1).front().fence.value();
  clock_.advance(hours(1));
  EXPECT_GE(lease(driver_, 1).front().fence.value() - first, 3'600'000'000);
}

TEST_F(SqliteInboxTest, AnEmptyLaneWithoutAVersionLeavesNoRow) {
  admit({1, 2}, "lane");
  EXPECT_EQ(count("hapax_lane"), 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(settle(driver_, lease(driver_, 1).front(), Ack{}), Settled::ok);
  }
  EXPECT_EQ(count("hapax_lane"), 0);
  EXPECT_EQ(count("hapax_queue"), 0) << "completed deliveries leave the queue";
  EXPECT_EQ(count("hapax_attempt"), 2);
}

// A filter with few matches must not make a single call long.
TEST_F(SqliteInboxTest, AListingReadsABoundedNumberOfEvents) {
  std::vector<std::int64_t> numbers(10'500);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) + 1;
  admit(numbers);
  EventQuery query{.filter = {.id = "id-7"}, .before = kNewest, .limit = 10};
  const EventPage first = driver_.catalog->events(query).value();
  EXPECT_TRUE(first.events.empty());
  ASSERT_TRUE(first.next);
  query.before = *first.next;
  const EventPage second = driver_.catalog->events(query).value();
  ASSERT_EQ(second.events.size(), 1U);
  EXPECT_EQ(second.events.front().no, EventNo(7));
  EXPECT_FALSE(second.next);
}

// The scan of a replay is bounded in the same way, and resumes.
TEST_F(SqliteInboxTest, AStepOfAReplayReadsABoundedNumberOfEvents) {
  std::vector<std::int64_t> numbers(10'500);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) + 1;
  admit(numbers);
  ReplayStep step{.filter = {.id = "id-10400"}, .how = {}, .limit = 10, .dry = true};
  Replaying part = driver_.queue->replay_step(step).value();
  EXPECT_EQ(part.events, 0U);
  EXPECT_FALSE(part.done);
  step.after = part.after;
  part = driver_.queue->replay_step(step).value();
  EXPECT_EQ(part.events, 1U);
  EXPECT_TRUE(part.done);
}

TEST_F(SqliteInboxTest, ARepeatedMoveWithTheSameNumbersMovesNothingTwice) {
  for (unsigned char each = 1; each <= 3; ++each) {
    MessageId id;
    id.bytes.fill(each);
    ASSERT_TRUE(driver_.queue->enqueue(id, {.destination = "mail", .payload = "hello"}));
  }
  const std::vector<EventNo> numbers{EventNo(10), EventNo(11)};
  for (int again = 0; again < 2; ++again) {
    const Moved moved = driver_.queue->move_messages(numbers).value();
    EXPECT_EQ(moved.messages, 2U);
    EXPECT_TRUE(moved.more);
  }
  EXPECT_EQ(count("hapax_message"), 1);
  EXPECT_EQ(count("hapax_event"), 2);
}

// Retention with nothing to remove writes nothing, so that an idle server's disk can sleep.
TEST_F(SqliteInboxTest, ASweepThatFindsNothingWritesNothing) {
  admit({1});
  const Periods periods{SourceNo(1), hours(1), hours(1)};
  const auto sweep = [&] { return driver_.queue->sweep({std::span(&periods, 1), 500}).value(); };
  EXPECT_TRUE(sweep().done);
  const auto written = [&] { return std::filesystem::last_write_time(file_ + "-wal"); };
  const auto before = written();
  EXPECT_TRUE(sweep().done);
  EXPECT_EQ(written(), before);
}

// Event numbers are ordered by time, so the scan ends at the first recent event.
TEST_F(SqliteInboxTest, ASweepRemovesOldEventsAndStopsAtRecentOnes) {
  clock_.advance(hours(24 * 400));  // event numbers count from 2024
  EventNumbers numbers(clock_, NodeNo(1));
  const auto admit_some = [&] {
    std::vector<std::int64_t> made(20);
    for (std::int64_t& each : made) each = numbers.next().value();
    admit(made);
    for (const Leased& each : lease(driver_, 20)) settle(driver_, each, Ack{});
  };
  admit_some();
  clock_.advance(hours(24 * 40));
  admit_some();
  const Periods periods{SourceNo(1), hours(24 * 30), hours(24 * 30)};
  std::size_t events = 0;
  for (int steps = 0; steps < 5; ++steps) {
    const Swept swept = driver_.queue->sweep({std::span(&periods, 1), 100}).value();
    events += swept.events;
    if (swept.done) break;
    ASSERT_LT(steps, 4);
  }
  EXPECT_EQ(events, 20U);
}

TEST_F(SqliteInboxTest, ReadersDoNotBlockWritersAndSeeCommits) {
  admit({1});
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::thread reader([&] {
    while (!stop) {
      if (!driver_.catalog->events({}) || !driver_.catalog->stats() ||
          !driver_.catalog->event(EventNo(1)))
        ++failures;
    }
  });
  for (std::int64_t no = 2; no < 100; ++no) {
    admit({no});
    EXPECT_EQ(driver_.catalog->event(EventNo(no))->presence, Presence::here);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(SqliteInboxTest, AStoreWithLockedOutWritersCanBeRead) {
  admit({1});
  const Handle other = open_file(file_, seconds(5)).value();
  ASSERT_TRUE(execute(other.get(), "BEGIN IMMEDIATE", "lock"));
  EXPECT_EQ(driver_.catalog->event(EventNo(1))->presence, Presence::here);
  EXPECT_EQ(driver_.catalog->events({})->events.size(), 1U);
}

// After a rollback the time at which a source was last seen must be written again.
TEST_F(SqliteInboxTest, ASourceIsSeenAfterARolledBackFirstAttempt) {
  admit({5});
  clock_.advance(hours(1));
  Requests made = requests({6, 5});
  made.arrivals[1].key = made.arrivals[1].id = "another";
  driver_.queue->write({.admit = admits(made)});
  const Stats stats = driver_.catalog->stats().value();
  ASSERT_EQ(stats.sources.size(), 1U);
  EXPECT_EQ(stats.sources.front().last_seen, std::chrono::floor<milliseconds>(clock_.wall()));
}

}  // namespace
}  // namespace hapax::store::sqlite
