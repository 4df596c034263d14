// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/server.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <future>

// A server that must wait for a standby, and has none. Whoever cancels that wait gets a success
// with a warning from PostgreSQL: committed here, and gone when this server is.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

class StandbyTest : public testing::Test {
 protected:
  // Commits heed it once a process of the server's has read it: one after the other, until one
  // waits.
  void want_a_standby() {
    server_.set("synchronous_standby_names", "nobody");
    const PgHandle probe = server_.connect();
    PQsetNoticeProcessor(
        probe.get(), [](void*, const char*) {}, nullptr);
    const std::string pid = std::to_string(PQbackendPID(probe.get()));
    do {
      end_command(probe.get());
      ASSERT_EQ(PQsendQuery(probe.get(), "SELECT pg_logical_emit_message(true, 'probe', '')"), 1);
    } while (!waits(probe.get(), pid));
    witness_.text("SELECT pg_cancel_backend(" + pid + ")");
    end_command(probe.get());
  }
  void want_no_standby() { server_.reset("synchronous_standby_names"); }

  void cancel_the_wait() {
    witness_.text("SELECT pg_cancel_backend(" + witness_.wait_for_backend("SyncRep") + ")");
  }

 private:
  static void end_command(PGconn* connection) {
    while (PGresult* result = PQgetResult(connection)) PQclear(result);
  }
  // Whether its command waits for the standby; false when it has ended without.
  bool waits(PGconn* connection, const std::string& pid) const {
    for (;;) {
      PQconsumeInput(connection);
      if (PQisBusy(connection) == 0) return false;
      if (witness_.text("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND "
                        "pid = " +
                        pid) == "1") {
        return true;
      }
    }
  }

 protected:
  // PostgreSQL says COMMIT, with a warning.
  void expect_unknown_commit() {
    const PgHandle connection = server_.connect();
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
    PostgresSession session = PostgresSession::attach(connection.get()).value();
    want_a_standby();
    PostgresTransaction tx = session.begin().value();
    ASSERT_FALSE(once(tx, {kScope, "a"}, [](PostgresTx&) {}).value().duplicate);
    auto commit = std::async(std::launch::async, [&] { return tx.commit(); });
    cancel_the_wait();
    const Result<void> done = commit.get();
    want_no_standby();
    ASSERT_FALSE(done) << "it stands on no standby";
    EXPECT_EQ(done.error().outcome(), Outcome::unknown) << done.error().to_string();
  }

  PostgresServer server_;
  Witness witness_{server_.connect()};
  Store store_ = open(server_.url(), {.timeout = 500ms}).value();
};

TEST_F(StandbyTest, AClaimWhoseWaitForTheStandbyIsCancelledIsUnknown) {
  server_.set("client_min_messages", "error");  // whoever wants no warnings is told all the same
  want_a_standby();
  const Token token = make_token();
  const DedupRequest request{.scope = kScope, .id = "a", .token = token};
  auto claim = std::async(std::launch::async, [&] { return store_.dedup(request); });
  cancel_the_wait();
  const Result<Dedup> answer = claim.get();
  ASSERT_FALSE(answer) << "it stands on no standby";
  EXPECT_EQ(answer.error().code(), Code::outcome_unknown) << answer.error().to_string();
  EXPECT_EQ(answer.error().outcome(), Outcome::unknown);
  EXPECT_EQ(witness_.holder_of("a"), hex(token)) << "committed here";

  want_no_standby();
  const Result<std::vector<Dedup>> again = ask_until_known(store_, {&request, 1});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_FALSE(again->front().duplicate);
  EXPECT_TRUE(store_.dedup({.scope = kScope, .id = "a"}).value().duplicate);
}

TEST_F(StandbyTest, ADuplicateIsNotAcknowledgedBeforeTheStandbyHasTheClaim) {
  ASSERT_FALSE(store_.dedup({.scope = kScope, .id = "a"}).value().duplicate);
  want_a_standby();
  const Result<Dedup> answer = store_.dedup({.scope = kScope, .id = "a"});
  ASSERT_FALSE(answer) << "the claim it relies on may be lost with this server";
  EXPECT_EQ(answer.error().outcome(), Outcome::unknown) << answer.error().to_string();
  want_no_standby();
  const DedupRequest request{.scope = kScope, .id = "a"};
  EXPECT_TRUE(ask_until_known(store_, {&request, 1}).value().front().duplicate);
}

TEST_F(StandbyTest, ACommitOfTheCallersWhoseWaitForTheStandbyIsCancelledIsUnknown) {
  expect_unknown_commit();
}

TEST_F(StandbyTest, ACommitOfACallerWhoWantsNoWarningsIsUnknownToo) {
  server_.set("client_min_messages", "error");
  expect_unknown_commit();
}

}  // namespace
}  // namespace hapax::test
