// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"
#include "postgres/witness.hpp"
#include "store/postgres/driver.hpp"

#include <thread>

// Days of events are made when they are needed and dropped as a whole when all of them may go.
namespace hapax::test {
namespace {

class Subject final : public InboxSubject {
 public:
  explicit Subject(const std::string& url)
      : driver_(postgres::open_driver(url, {.timeout = kLongTimeout, .clock = &clock_}, random_)
                    .value()) {}

  Driver& driver() override { return *driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds) override {}

 private:
  ManualClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<Driver> driver_;
};

EventNo number_of_day(std::int64_t day, std::int64_t n) {
  return EventNo(((day * 86'400'000) << 22) + n);
}

class InboxPartitionTest : public testing::Test {
 protected:
  // The first of January 2024 is long past, in the store's time too.
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

TEST_F(InboxPartitionTest, AnEventMakesItsOwnDayAndNoOther) {
  fresh(3, 1);
  EXPECT_EQ(partitions("event"), "event_20240104");
  EXPECT_EQ(partitions("attempt"), "attempt_20240104");
}

TEST_F(InboxPartitionTest, MaintenanceMakesTodayAndTomorrow) {
  ASSERT_TRUE(steps_.next().make_ahead());
  EXPECT_EQ(partitions("event"), "event_20260502 event_20260503");
  EXPECT_EQ(partitions("attempt"), "attempt_20260502 attempt_20260503");
  ASSERT_TRUE(steps_.next().make_ahead());
  steps_.advance(days);
  ASSERT_TRUE(steps_.next().make_ahead());
  EXPECT_EQ(partitions("event"), "event_20260502 event_20260503 event_20260504");
}

TEST_F(InboxPartitionTest, ATableInThePlaceOfADayIsReportedByName) {
  witness_.text("CREATE TABLE hapax.event_20240104 (LIKE hapax.event)");
  const Arrival arrival{.no = number_of_day(3, 1), .source = steps_.source("src"), .id = "a"};
  const Admit admit{std::span(&arrival, 1)};
  const Answers answers = steps_.next().write({.admit = std::span(&admit, 1)});
  ASSERT_FALSE(answers.admit.at(0));
  EXPECT_EQ(answers.admit.at(0).error().code(), Code::misconfigured);
  EXPECT_NE(answers.admit.at(0).error().detail().find("hapax.event_20240104"), std::string::npos)
      << answers.admit.at(0).error().detail();
  witness_.text("ALTER TABLE hapax.event_20240104 RENAME TO old_events");
  fresh(3, 2);
}

TEST_F(InboxPartitionTest, ManyNodesMayMakeTheSameDay) {
  std::vector<std::unique_ptr<Subject>> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(std::make_unique<Subject>(database_.url()));
  const SourceNo source = steps_.source("src");
  all_at_once(4, [&](int i) {
    const std::string id = std::to_string(i);
    const Arrival arrival{.no = number_of_day(3, i + 1), .source = source, .key = id, .id = id};
    const Admit admit{std::span(&arrival, 1)};
    const Answers answers =
        nodes[static_cast<std::size_t>(i)]->driver().write({.admit = std::span(&admit, 1)});
    EXPECT_TRUE(answers.admit.at(0)) << answers.admit.at(0).error().to_string();
  });
  EXPECT_EQ(witness_.number("SELECT count(*) FROM hapax.event_20240104"), 4);
}

TEST_F(InboxPartitionTest, ADayWhoseEventsMayAllGoIsDropped) {
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
  const EventNo late = fresh(0, 9);  // it is made again
  EXPECT_EQ(steps_.presence(late), Presence::here);
  EXPECT_TRUE(exists("event_20240101"));
}

TEST_F(InboxPartitionTest, ADayWithWorkLeftStaysAndLosesOnlyWhatMayGo) {
  fresh(0, 1);
  const EventNo held = fresh(0, 2, "other");
  steps_.deliver();
  steps_.advance(hours(2));
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  EXPECT_EQ(steps_.presence(held), Presence::here);
  EXPECT_TRUE(exists("event_20240101"));
}

TEST_F(InboxPartitionTest, AReaderIsNotWaitedForAndItsDayGoesRowByRow) {
  const EventNo event = fresh(0, 1);
  steps_.deliver();
  steps_.advance(hours(2));
  witness_.text("BEGIN");
  witness_.text("SELECT count(*) FROM hapax.event");
  EXPECT_EQ(steps_.sweep(hours(2), hours(2)), 1U);
  EXPECT_EQ(steps_.presence(event), Presence::gone);
  EXPECT_TRUE(exists("event_20240101"));
  witness_.text("COMMIT");
  steps_.sweep(hours(2), hours(2));
  EXPECT_FALSE(exists("event_20240101")) << "the next time";
}

}  // namespace
}  // namespace hapax::test
