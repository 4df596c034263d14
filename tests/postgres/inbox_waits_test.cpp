// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/inbox_node.hpp"
#include "postgres/witness.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>
#include <vector>

// Other sessions (operators, jobs) hold locks on the tables. hapax must not wait for them
// unnecessarily, and a call that must wait times out.
namespace hapax::test {
namespace {

using std::chrono::seconds;
using store::Answers;

// Short enough that a request waiting for a lock fails long before the test times out.
constexpr seconds kShortTimeout{15};  // a call that waits for a lock times out 3 s earlier

class InboxWaitsTest : public testing::Test {
 protected:
  std::string partition(const std::string& parent, const std::string& day) const {
    return "hapax." + parent + witness_.text("SELECT to_char(" + day + ", '\"_\"YYYYMMDD')");
  }
  void drop(const std::string& day) const {
    for (const char* parent : {"event", "attempt"}) {
      witness_.text("DROP TABLE IF EXISTS " + partition(parent, day));
    }
  }
  bool has(const std::string& day) const {
    return witness_.text("SELECT to_regclass('" + partition("event", day) + "') IS NOT NULL") ==
           "t";
  }

  static constexpr const char* kToday = "(now() AT TIME ZONE 'UTC')::date";
  static constexpr const char* kTomorrow = "(now() AT TIME ZONE 'UTC')::date + 1";

  PostgresDatabase database_;
  Witness witness_{database_.connect()};
  Witness other_{database_.connect()};
};

TEST_F(InboxWaitsTest, EventsOfAnExistingDayAreAdmittedDuringAnAnalyze) {
  InboxNode(database_.url(), 1).admit(std::array{Post{"makes the day"}});
  drop(kTomorrow);
  other_.text("BEGIN");
  other_.text("LOCK TABLE hapax.event IN SHARE UPDATE EXCLUSIVE MODE");  // as ANALYZE does
  InboxNode node(database_.url(), 2, kShortTimeout);
  EXPECT_EQ(node.admit(std::array{Post{"beside it"}}), 1);
  const Result<void> made = node.driver().queue->make_ahead();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::store_busy) << made.error().to_string();
  EXPECT_FALSE(has(kTomorrow));
  other_.text("COMMIT");
  EXPECT_TRUE(node.driver().queue->make_ahead());
  EXPECT_TRUE(has(kTomorrow));
}

// Any role that can connect can take an advisory lock.
TEST_F(InboxWaitsTest, AdvisoryLocksOfOtherRolesDoNotDelayIngest) {
  InboxNode node(database_.url(), 1, kShortTimeout);
  other_.text("SELECT pg_advisory_lock(n) FROM generate_series(448345170296, 448345170310) AS n");
  EXPECT_EQ(node.admit(std::array{Post{"the first of its day"}}), 1);
  EXPECT_TRUE(has(kToday));
  const Result<NodeNo> number = node.driver().node->take_node(make_token(), seconds(60));
  EXPECT_TRUE(number) << number.error().to_string();
  EXPECT_TRUE(node.driver().catalog->number_of(store::NameKind::source, "another"));
  const Result<bool> put = node.driver().node->put_record({"r", 1, "content"}, 0);
  EXPECT_TRUE(put) << put.error().to_string();
  EXPECT_TRUE(node.driver().node->remove_record("r", 1));
}

// The server reports did_not_happen before the client would have to report unknown.
TEST_F(InboxWaitsTest, EveryStatementTimesOutBeforeItsDeadline) {
  InboxNode node(database_.url(), 1, kShortTimeout);
  EXPECT_EQ(node.admit(std::array{Post{"a"}}), 1);
  const store::Driver& driver = node.driver();
  const SourceNo source(driver.catalog->number_of(store::NameKind::source, "src").value());
  const EventNo event = driver.catalog->events({}).value().events.at(0).no;
  other_.text("BEGIN");
  other_.text(
      "LOCK TABLE hapax.event, hapax.queue, hapax.attempt, hapax.claim, hapax.name, hapax.node,"
      " hapax.pause, hapax.record, hapax.reject, hapax.reject_count, hapax.secret, hapax.seen,"
      " hapax.sweep IN ACCESS EXCLUSIVE MODE");
  const auto code_of = [](const auto& result) {
    return result ? std::string("done") : result.error().to_string();
  };
  const Token owner = make_token();
  const store::Reject reject{.no = RejectNo(1), .source = source};
  const std::vector<std::function<std::string()>> calls{
      [&] { return code_of(driver.claims->purge(1)); },
      [&] { return code_of(driver.catalog->names(store::NameKind::source)); },
      [&] { return code_of(driver.catalog->number_of(store::NameKind::source, "other")); },
      [&] { return code_of(driver.node->take_node(owner, seconds(1))); },
      [&] { return code_of(driver.node->secret({})); },
      [&] { return code_of(driver.catalog->pause(node.destination(), true)); },
      [&] { return code_of(driver.catalog->paused()); },
      [&] { return code_of(driver.node->record("r")); },
      [&] {
        return code_of(driver.node->put_record({"r", 1, "content"}, 0));
      },
      [&] { return code_of(driver.catalog->events({})); },
      [&] { return code_of(driver.catalog->event(event)); },
      [&] { return code_of(driver.catalog->body(event, store::BodyOf::event)); },
      [&] { return code_of(driver.catalog->stats()); },
      [&] {
        return code_of(driver.queue->cancel({event, DeliveryNo(1)}));
      },
      [&] { return code_of(driver.rejects->add_rejects({.rejects = std::span(&reject, 1)})); },
      [&] { return code_of(driver.rejects->rejects({})); },
      [&] { return code_of(driver.rejects->reject_counts()); },
      [&] { return code_of(driver.rejects->remove_reject(RejectNo(1))); },
      [&] { return code_of(driver.queue->sweep({})); },
  };
  std::vector<std::string> answers(calls.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      threads.emplace_back([&, i] { answers[i] = calls[i](); });
    }
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_NE(answers[i].find("store-busy"), std::string::npos)
        << "call " << i << ": " << answers[i];
  }
}

TEST_F(InboxWaitsTest, AWaitingRetentionTaskDoesNotDelayTheOthers) {
  InboxNode node(database_.url(), 1, kShortTimeout);
  EXPECT_EQ(node.admit(std::array{Post{"a"}}), 1);
  witness_.text(
      "INSERT INTO hapax.claim (key, event, expires_at) VALUES ('of an event that is gone', 1,"
      " now() - interval '1 day')");
  other_.text("BEGIN");
  other_.text("LOCK TABLE hapax.queue IN ACCESS EXCLUSIVE MODE");
  const store::Periods periods{SourceNo(1), seconds(3600), seconds(3600)};
  const store::SweepStep step{std::span(&periods, 1), 500};
  const Result<store::Swept> events = node.driver().queue->sweep(step);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code(), Code::store_busy) << events.error().to_string();
  const Result<store::Swept> others = node.driver().queue->sweep(step);
  ASSERT_TRUE(others) << others.error().to_string();
  EXPECT_EQ(others->others, 1U);
  EXPECT_TRUE(others->done);
}

TEST_F(InboxWaitsTest, AnAbandonedStatementIsCancelled) {
  { const InboxNode makes_the_schema(database_.url(), 1); }
  InboxNode node(database_.url(), 1, seconds(5));
  witness_.text(
      "CREATE FUNCTION public.sleep() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'");
  witness_.text(
      "CREATE TRIGGER sleep BEFORE INSERT ON hapax.pause FOR EACH ROW EXECUTE FUNCTION"
      " public.sleep()");
  const Result<void> paused = node.driver().catalog->pause(node.destination(), true);
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().code(), Code::outcome_unknown) << paused.error().to_string();
  EXPECT_TRUE(eventually([&] {
    return witness_.text(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
               " AND wait_event = 'PgSleep'") == "0";
  })) << "a backend was left running";
}

}  // namespace
}  // namespace hapax::test
