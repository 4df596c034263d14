// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"
#include "postgres/witness.hpp"
#include "store/postgres/driver.hpp"
#include "store/postgres/schema.hpp"

#include <thread>

// A day's partition of events is created when it is needed and dropped once all its events may go.
namespace hapax::test {
namespace {

class Subject final : public InboxSubject {
 public:
  explicit Subject(const std::string& url)
      : driver_(postgres::open_driver(url, {.timeout = kLongTimeout, .clock = &clock_}, random_)
                    .value()) {}

  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds) override {}

 private:
  ManualClock clock_;
  SeededRandom random_{1};
  Driver driver_;
};

EventNo number_of_day(std::int64_t day, std::int64_t n) {
  return EventNo(((day * 86'400'000) << 22) + n);
}

class InboxPartitionTest : public testing::Test {
 protected:
  // The tests' events are dated January 2024, which is long past in the store's time too.
  void SetUp() override { steps_.advance(900 * days); }

  EventNo fresh(std::int64_t day, std::int64_t n, const std::string& to = "dst") {
    return steps_.fresh({.id = std::to_string(day) + "-" + std::to_string(n),
                         .remember = hours(1),
                         .to = {to},
                         .no = number_of_day(day, n)});
  }
  std::string partitions(const std::string& parent) {
    return witness_.text(
        "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_inherits JOIN pg_class"
        " ON pg_class.oid = inhrelid WHERE inhparent = 'hapax." +
        parent + "'::regclass");
  }

  bool exists(const std::string& part) {
    return witness_.text("SELECT to_regclass('hapax." + part + "') IS NOT NULL") == "t";
  }

  PostgresDatabase database_;
  InboxSteps steps_{std::make_unique<Subject>(database_.url()), false};
  Witness witness_{database_.connect()};
};

TEST_F(InboxPartitionTest, AnEventCreatesOnlyItsOwnDay) {
  fresh(3, 1);
  EXPECT_EQ(partitions("event"), "event_20240104");
  EXPECT_EQ(partitions("attempt"), "attempt_20240104");
}

TEST_F(InboxPartitionTest, MaintenanceCreatesTodayAndTomorrow) {
  ASSERT_TRUE(steps_.next().queue->make_ahead());
  EXPECT_EQ(partitions("event"), "event_20260502 event_20260503");
  EXPECT_EQ(partitions("attempt"), "attempt_20260502 attempt_20260503");
  ASSERT_TRUE(steps_.next().queue->make_ahead());
  steps_.advance(days);
  ASSERT_TRUE(steps_.next().queue->make_ahead());
  EXPECT_EQ(partitions("event"), "event_20260502 event_20260503 event_20260504");
}

TEST_F(InboxPartitionTest, ATableWithThePartitionsNameIsReported) {
  witness_.text("CREATE TABLE hapax.event_20240104 (LIKE hapax.event)");
  const Arrival arrival{.no = number_of_day(3, 1), .source = steps_.source("src"), .id = "a"};
  const Admit admit{std::span(&arrival, 1)};
  const Answers answers = steps_.next().queue->write({.admit = std::span(&admit, 1)});
  ASSERT_FALSE(answers.admit.at(0));
  EXPECT_EQ(answers.admit.at(0).error().code(), Code::misconfigured);
  EXPECT_NE(answers.admit.at(0).error().detail().find("hapax.event_20240104"), std::string::npos)
      << answers.admit.at(0).error().detail();
  witness_.text("ALTER TABLE hapax.event_20240104 RENAME TO old_events");
  fresh(3, 2);
}

// As in a new store: all nodes send their first requests, while maintenance creates the next day
// too.
TEST_F(InboxPartitionTest, ManyNodesCanCreateTheSameDay) {
  constexpr int kNodes = 8;
  const int count = rounds(500);
  std::vector<std::unique_ptr<Subject>> nodes;
  for (int i = 0; i < kNodes; ++i) nodes.push_back(std::make_unique<Subject>(database_.url()));
  for (const auto& each : nodes) each->advance(900 * days);  // 2026-05-02, 852 days since 2024
  const SourceNo source = steps_.source("src");
  for (int round = 0; round < count && !HasFailure(); ++round) {
    const std::int64_t day = 852 + 2 * round;
    all_at_once(kNodes, [&](int i) {
      Subject& node = *nodes[static_cast<std::size_t>(i)];
      if (i % 4 == 0) {
        const Result<void> made = node.driver().queue->make_ahead();
        EXPECT_TRUE(made) << made.error().to_string();
        return;
      }
      const std::string id = std::to_string(day) + "-" + std::to_string(i);
      const Arrival arrival{
          .no = number_of_day(day + i % 2, i), .source = source, .key = id, .id = id};
      const Admit admit{std::span(&arrival, 1)};
      const Answers answers = node.driver().queue->write({.admit = std::span(&admit, 1)});
      EXPECT_TRUE(answers.admit.at(0)) << answers.admit.at(0).error().to_string();
    });
    for (const auto& each : nodes) each->advance(2 * days);
  }
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.event"), count * kNodes * 3 / 4);
}

// One node creates today and then tomorrow, the other only tomorrow.
TEST_F(InboxPartitionTest, NodesThatCreateSeveralDaysDoNotDeadlock) {
  const Witness other(database_.connect());
  witness_.text("BEGIN");
  witness_.text("SELECT hapax._need_days('{3}')");
  std::jthread waiting([&] { EXPECT_EQ(other.failure_of("SELECT hapax._need_days('{4}')"), ""); });
  Witness(database_.connect()).wait_for_backend("relation");
  EXPECT_EQ(witness_.failure_of("SELECT hapax._need_days('{4}')"), "");
  witness_.text("COMMIT");
}

// A creator's commit may be visible before other sessions have processed the invalidation messages
// for the new partition. The creator holds its lock until they can.
TEST_F(InboxPartitionTest, ADayIsUsedOnlyAfterItsCreatorReleasesTheLock) {
  witness_.text("SELECT hapax._need_days('{3}')");
  const Witness maker(database_.connect());
  maker.text("BEGIN");
  maker.text("LOCK TABLE hapax.event_20240104 IN ACCESS EXCLUSIVE MODE");
  witness_.text("SET lock_timeout = '10ms'");
  EXPECT_EQ(witness_.failure_of("SELECT hapax._need_days('{3}')"), "55P03");
  maker.text("COMMIT");
  EXPECT_EQ(witness_.failure_of("SELECT hapax._need_days('{3}')"), "");
}

TEST_F(InboxPartitionTest, ADayWhoseEventsHaveAllExpiredIsDropped) {
  std::vector<EventNo> events;
  for (int i = 1; i <= 3; ++i) events.push_back(fresh(0, i));
  for (int i = 0; i < 3; ++i) steps_.deliver();
  steps_.advance(hours(1));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 0U) << "too early";
  EXPECT_TRUE(exists("event_20240101"));
  steps_.advance(hours(1));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 3U);
  EXPECT_FALSE(exists("event_20240101"));
  EXPECT_TRUE(exists("attempt_20240101")) << "a settle may still be repeated";
  EXPECT_EQ(steps_.presence(events.back()), Presence::gone);
  steps_.advance(2 * days);
  for (int i = 0; i < 3; ++i) steps_.sweep(hours(2), hours(2));
  EXPECT_FALSE(exists("attempt_20240101"));
  const EventNo late = fresh(0, 9);  // the day is created again
  EXPECT_EQ(steps_.presence(late), Presence::here);
  EXPECT_TRUE(exists("event_20240101"));
}

TEST_F(InboxPartitionTest, ADayWithPendingDeliveriesStaysAndLosesOnlyExpiredEvents) {
  fresh(0, 1);
  const EventNo held = fresh(0, 2, "other");
  steps_.deliver();
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  EXPECT_EQ(steps_.presence(held), Presence::here);
  EXPECT_TRUE(exists("event_20240101"));
}

// Records the number of ACCESS EXCLUSIVE locks on the shared tables whenever rows of `table` are
// deleted.
void watch_deletes(const Witness& witness, const std::string& table) {
  witness.text("CREATE TABLE public.deletes (locks int, deleted int)");
  witness.text(
      "CREATE FUNCTION public.note_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " INSERT INTO public.deletes SELECT (SELECT count(*) FROM pg_locks WHERE pid ="
      " pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relation IN"
      " ('hapax.event'::regclass, 'hapax.attempt'::regclass)), (SELECT count(*) FROM old_rows);"
      " RETURN NULL; END $$");
  witness.text("CREATE TRIGGER watch AFTER DELETE ON hapax." + table +
               " REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION"
               " public.note_delete()");
}

TEST_F(InboxPartitionTest, RelatedRowsAreDeletedBeforeADayIsLocked) {
  for (int i = 1; i <= 5; ++i) {
    fresh(0, i);
    steps_.kill(steps_.lease_one());
  }
  watch_deletes(witness_, "queue");
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2), 2), 5U);
  EXPECT_FALSE(exists("event_20240101"));
  EXPECT_EQ(witness_.number("SELECT sum(deleted) FROM public.deletes"), 5);
  EXPECT_EQ(witness_.number("SELECT max(locks) FROM public.deletes"), 0);
}

TEST_F(InboxPartitionTest, NoLockIsTakenWithoutADrop) {
  fresh(0, 1);
  steps_.deliver();
  steps_.advance(hours(2));
  steps_.sweep(hours(2), hours(2));
  ASSERT_FALSE(exists("event_20240101"));
  ASSERT_TRUE(exists("attempt_20240101")) << "its attempts are less than a day old";
  watch_deletes(witness_, "lane");
  steps_.sweep(hours(2), hours(2));
  EXPECT_GT(witness_.number("SELECT count(*) FROM public.deletes"), 0);
  EXPECT_EQ(witness_.number("SELECT max(locks) FROM public.deletes"), 0);
}

TEST_F(InboxPartitionTest, ExpiredDaysAreDroppedInOnePassAndNotRowByRow) {
  for (int day = 0; day < 4; ++day) {
    fresh(day, 1);
    fresh(day, 2);
    steps_.deliver();
    steps_.deliver();
  }
  watch_deletes(witness_, "event");
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 8U);
  EXPECT_EQ(partitions("event"), "");
  EXPECT_EQ(witness_.number("SELECT coalesce(sum(deleted), 0) FROM public.deletes"), 0);
}

// Deleting the rows of a large day one by one as they expire costs far more than one DROP.
TEST_F(InboxPartitionTest, ALargeDayThatExpiresSoonIsDroppedAsAWhole) {
  constexpr int kEvents = 10'002;
  fresh(0, 1);
  steps_.deliver();
  witness_.text(
      "INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, order_key, "
      "digest,"
      " headers, body) SELECT e.no + n, e.source, 0, e.received_at + interval '1 hour' * (n % 2), "
      "'',"
      " int4send(n), '', '', '', '', '' FROM hapax.event AS e, generate_series(1, " +
      std::to_string(kEvents - 1) + ") AS n");
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2), 2000), 0U);
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.event"), kEvents);
  steps_.advance(hours(1));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2), 2000), static_cast<std::size_t>(kEvents));
  EXPECT_FALSE(exists("event_20240101"));
}

// The DROP waits for a reader, but the day's events disappear at once.
TEST_F(InboxPartitionTest, EventsOfAClosedDayAreGoneWhileAReaderDelaysTheDrop) {
  const EventNo event = fresh(0, 1);
  steps_.kill(steps_.lease_one());
  steps_.advance(hours(2));
  witness_.text("BEGIN");
  witness_.text("SELECT count(*) FROM hapax.event");
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.event_20240101"), 1);
  EXPECT_EQ(steps_.presence(event), Presence::gone);
  EXPECT_TRUE(steps_.list({}).empty());
  EXPECT_EQ(steps_.replay({.event = event}).status, Replayed::Status::gone);
  EXPECT_EQ(steps_.cancel(event), Cancelled::gone);
  EXPECT_EQ(steps_.next().catalog->body(event, BodyOf::event)->presence, Presence::gone);
  const DuplicateNote note{.event = event, .count = 1};
  EXPECT_TRUE(steps_.next().queue->note_duplicates(std::span(&note, 1)));
  const Replaying all = steps_.next().queue->replay_step({}).value();
  EXPECT_EQ(all.events, 0U);
  EXPECT_EQ(witness_.number("SELECT (SELECT count(*) FROM hapax.duplicate)"
                            " + (SELECT count(*) FROM hapax.queue)"),
            0);

  witness_.text("COMMIT");
  steps_.advance(seconds(1));
  steps_.sweep(hours(2), hours(2));
  EXPECT_FALSE(exists("event_20240101"));
}

TEST_F(InboxPartitionTest, AnEventForAClosedDayIsRefusedUntilTheDayIsRecreated) {
  fresh(0, 1);
  steps_.deliver();
  steps_.advance(hours(2));
  witness_.text("BEGIN");
  witness_.text("SELECT count(*) FROM hapax.event");
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  const Arrival arrival{.no = number_of_day(0, 2), .source = steps_.source("src"), .id = "late"};
  const Admit admit{std::span(&arrival, 1)};
  const Answers refused = steps_.next().queue->write({.admit = std::span(&admit, 1)});
  ASSERT_FALSE(refused.admit.at(0));
  EXPECT_EQ(refused.admit.at(0).error().code(), Code::store_busy);
  witness_.text("COMMIT");
  steps_.advance(seconds(1));
  steps_.sweep(hours(2), hours(2));
  EXPECT_EQ(steps_.presence(fresh(0, 3)), Presence::here);
}

// The session's snapshot predates the closing of the day.
TEST_F(InboxPartitionTest, ASessionWithAnOldSnapshotStoresNothingInAClosedDay) {
  fresh(0, 1);
  const Witness other(database_.connect());
  for (const char* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    other.text(std::string("BEGIN ISOLATION LEVEL ") + level);
    other.text("SELECT count(*) FROM hapax.claim");
    EXPECT_EQ(witness_.text("SELECT hapax._close_day(0, now())"), "t");
    EXPECT_EQ(
        other.failure_of("INSERT INTO hapax.event SELECT no + 1, source, would, key_id,"
                         " received_at, version, tenant, id, type, order_key, digest, headers,"
                         " body FROM hapax.event"),
        "40001");
    other.text("ROLLBACK");
    witness_.text("UPDATE hapax.day SET closed_at = NULL");
  }
}

// A replay was committed between the scan of a day and its closing.
TEST_F(InboxPartitionTest, ADayWithAReplayDuringItsClosingIsReopened) {
  const EventNo replayed = fresh(0, 1);
  steps_.kill(steps_.lease_one());
  const EventNo other = fresh(0, 2);
  steps_.deliver();
  steps_.advance(hours(2));
  // The scan stops at the second event; the first is then replayed behind the cursor.
  const Periods periods[]{{steps_.source("src"), hours(2), hours(2)}};
  ASSERT_FALSE(steps_.next().queue->sweep({periods, 1})->done);
  EXPECT_EQ(steps_.replay({.event = replayed}).status, Replayed::Status::done);
  EXPECT_EQ(steps_.sweep(hours(2), hours(2), 1), 1U);
  EXPECT_EQ(steps_.presence(other), Presence::gone);
  EXPECT_EQ(steps_.presence(replayed), Presence::here);
  EXPECT_EQ(steps_.lease_one().event.no, replayed);
}

// Nodes of the previous version ignore closed days.
TEST_F(InboxPartitionTest, AClosedDayWithADeliveryIsNotDropped) {
  const EventNo replayed = fresh(0, 1);
  witness_.text("UPDATE hapax.day SET closed_at = now() WHERE n = 0");
  EXPECT_EQ(witness_.text("SELECT hapax._drop_closed_day(0)"), "f");
  EXPECT_TRUE(exists("event_20240101"));
  witness_.text("DELETE FROM hapax.queue WHERE event = " + std::to_string(replayed.value()));
  EXPECT_EQ(witness_.text("SELECT hapax._drop_closed_day(0)"), "t");
  EXPECT_FALSE(exists("event_20240101"));
}

// A reader may keep the table locked for hours.
TEST_F(InboxPartitionTest, ADayWithAWaitingDropIsNotScannedAgain) {
  constexpr int kEvents = 20;
  for (int i = 1; i <= kEvents; ++i) {
    steps_.fresh({.id = std::to_string(i), .no = number_of_day(0, i)});
    steps_.deliver();
  }
  const Periods periods[]{{steps_.source("src"), hours(2), hours(2)}};
  const auto steps_of_a_pass = [&] {
    for (int steps = 1;; ++steps) {
      if (steps_.next().queue->sweep({periods, 1})->done) return steps;
    }
  };
  steps_.advance(hours(2));
  witness_.text("BEGIN");
  witness_.text("SELECT count(*) FROM hapax.event");
  EXPECT_GT(steps_of_a_pass(), kEvents);
  for (int i = 0; i < 3; ++i) {
    steps_.advance(seconds(1));
    EXPECT_LT(steps_of_a_pass(), kEvents);
  }
  EXPECT_TRUE(exists("event_20240101"));
  witness_.text("COMMIT");
  steps_.advance(seconds(1));
  steps_of_a_pass();
  EXPECT_FALSE(exists("event_20240101"));
}

// A node of an earlier version adds to a closed day while its drop waits.
TEST_F(InboxPartitionTest, ADayWithADeliveryAddedBeforeItsDropIsReopened) {
  const EventNo event = fresh(0, 1);
  steps_.deliver();
  steps_.advance(hours(2));
  witness_.text("BEGIN");
  witness_.text("SELECT count(*) FROM hapax.event");
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  witness_.text("COMMIT");
  EXPECT_EQ(witness_.text("SELECT status FROM hapax._replay(" + std::to_string(event.value()) +
                          ", NULL, true, NULL, true, 7, 64, NULL)"),
            "0");
  for (int i = 0; i < 2; ++i) {
    steps_.advance(seconds(1));
    EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 0U);
  }
  EXPECT_EQ(steps_.presence(event), Presence::here);
}

// A late event arrives for a dropped day while retention drops that day's attempts.
TEST_F(InboxPartitionTest, AttemptsStayWhileTheEventsOfTheirDayAreRecreated) {
  witness_.text("SELECT hapax._need_days('{0}')");
  witness_.text("DROP TABLE hapax.event_20240101");
  const Witness other(database_.connect());
  for (const char* drop : {"SELECT dropped FROM hapax._drop_attempts_of_day(now())",
                           "SELECT hapax._drop_attempt_day(now())"}) {
    other.text("BEGIN");
    other.text("SELECT hapax._need_days('{0}')");
    EXPECT_EQ(witness_.text(drop), "f") << drop;
    other.text("ROLLBACK");
  }
  other.text("SELECT hapax._need_days('{0}')");
  EXPECT_TRUE(exists("attempt_20240101"));
}

// Schema versions before 0010 did not record that a day has attempts of individually deleted
// events.
TEST(InboxUpgradeTest, AttemptsLeftBehindBeforeAnUpgradeAreRemoved) {
  constexpr std::size_t kBefore = 10;
  PostgresDatabase database(PostgresDatabase::Schema::none);
  const Witness witness(database.connect());
  witness.text(
      "CREATE SCHEMA hapax; CREATE TABLE hapax.schema_version (version int NOT NULL);"
      "INSERT INTO hapax.schema_version VALUES (" +
      std::to_string(kBefore) + ")");
  for (const std::string_view each : store::postgres::migrations().first(kBefore)) {
    witness.text(std::string(each));
  }
  witness.text(
      "SELECT hapax._need_days('{3, 4}');"
      "DELETE FROM hapax.day WHERE n = 4;"  // as before 0010
      "INSERT INTO hapax.attempt (event, delivery, fence, destination, listen, outcome, settled_at,"
      " began_us, took_ms, status, error, excerpt) SELECT ((d * 86400000::bigint) << 22) + 1, 1, 1,"
      " 1, false, 0, '2024-01-05', 0, 0, 200, '', '' FROM unnest('{3, 4}'::int[]) AS d;"
      "INSERT INTO hapax.event (no, source, would, received_at, tenant, id, type, order_key, "
      "digest,"
      " headers, body) SELECT ((d * 86400000::bigint) << 22) + 2, 1, 0, '2024-01-05', '', '', '', "
      "'',"
      " '', '', '' FROM unnest('{3, 4}'::int[]) AS d");
  InboxSteps steps(std::make_unique<Subject>(database.url()), false);
  steps.advance(900 * days);
  ASSERT_EQ(steps.source("src").value(), 1);
  EXPECT_EQ(steps.sweep(10'000 * days, 10'000 * days), 0U);
  EXPECT_EQ(witness.number("SELECT count(*) FROM hapax.attempt"), 0);
  EXPECT_EQ(witness.number("SELECT count(*) FROM hapax.day WHERE attempts_at <> 'infinity'"), 0)
      << "not scheduled again";
}

// A node whose clock is a year ahead has stored an event.
TEST_F(InboxPartitionTest, AnEventNumberAheadOfTheClockMakesNoOtherEventGone) {
  const std::int64_t ahead = 850 + 365;  // days since 2024; the test's time is day 852
  const EventNo event = fresh(ahead, 1);
  steps_.deliver();
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  EXPECT_NE(steps_.presence(event), Presence::here);
  EXPECT_EQ(steps_.presence(number_of_day(900, 1)), Presence::absent);
}

}  // namespace
}  // namespace hapax::test
