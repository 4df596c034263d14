// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/server.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <future>

// Synchronous replication without a standby. If the wait is cancelled, PostgreSQL reports success
// with a warning: committed locally, and lost with this server.
namespace hapax::test {
namespace {

class StandbyTest : public testing::Test {
 protected:
  // Commits obey the setting once a background process of the server has read it. Commits one probe
  // after another until one waits.
  void want_a_standby() {
    server_.set("synchronous_standby_names", "nobody");
    const PgHandle probe = server_.connect();
    PQsetNoticeProcessor(
        probe.get(), [](void*, const char*) {}, nullptr);
    const std::string pid = std::to_string(PQbackendPID(probe.get()));
    ASSERT_TRUE(eventually([&] {
      PQconsumeInput(probe.get());
      if (PQisBusy(probe.get()) != 0) return waits(pid);
      end_command(probe.get());
      EXPECT_EQ(PQsendQuery(probe.get(), "SELECT pg_logical_emit_message(true, 'probe', '')"), 1);
      return false;
    }));
    witness_.text("SELECT pg_cancel_backend(" + pid + ")");
    end_command(probe.get());
  }
  void want_no_standby() { server_.reset("synchronous_standby_names"); }

  void cancel_the_wait() {
    witness_.text("SELECT pg_cancel_backend(" + witness_.wait_for_backend("SyncRep") + ")");
  }

  // Returns the store's answer when every wait for the standby is cancelled. The store repeats the
  // request, which waits again, until its retries are used up.
  Result<Dedup> claim_and_cancel_every_wait(const DedupRequest& request) {
    auto claim = std::async(std::launch::async, [&] { return store_.dedup(request); });
    EXPECT_TRUE(eventually([&] {
      witness_.text(
          "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = "
          "'SyncRep'");
      return claim.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    return claim.get();
  }

 private:
  static void end_command(PGconn* connection) {
    while (PGresult* result = PQgetResult(connection)) PQclear(result);
  }
  bool waits(const std::string& pid) const {
    return witness_.text(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = " +
               pid) == "1";
  }

 protected:
  // PostgreSQL answers COMMIT, with a warning.
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
    ASSERT_FALSE(done) << "no standby has it";
    EXPECT_EQ(done.error().outcome(), Outcome::unknown) << done.error().to_string();
  }

  PostgresServer server_;
  Witness witness_{server_.connect()};
  Store store_ = open(server_.url(), {.timeout = kLongTimeout}).value();
};

TEST_F(StandbyTest, AClaimWithACancelledStandbyWaitIsUnknown) {
  server_.set("client_min_messages", "error");  // the wait must be noticed without warnings too
  want_a_standby();
  const Token token = make_token();
  const DedupRequest request{.scope = kScope, .id = "a", .token = token};
  const Result<Dedup> answer = claim_and_cancel_every_wait(request);
  ASSERT_FALSE(answer) << "no standby has it";
  EXPECT_EQ(answer.error().code(), Code::outcome_unknown) << answer.error().to_string();
  EXPECT_EQ(answer.error().outcome(), Outcome::unknown);
  EXPECT_EQ(witness_.holder_of("a"), hex(token)) << "committed locally";

  want_no_standby();
  const Result<Dedup> again = retry_until_known(store_, request);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_FALSE(again->duplicate);
  EXPECT_TRUE(store_.dedup({.scope = kScope, .id = "a"}).value().duplicate);
}

TEST_F(StandbyTest, ADuplicateIsNotAcknowledgedBeforeTheStandbyHasTheClaim) {
  ASSERT_FALSE(store_.dedup({.scope = kScope, .id = "a"}).value().duplicate);
  want_a_standby();
  const DedupRequest request{.scope = kScope, .id = "a"};
  const Result<Dedup> answer = claim_and_cancel_every_wait(request);
  ASSERT_FALSE(answer) << "the claim it relies on may be lost with this server";
  EXPECT_EQ(answer.error().outcome(), Outcome::unknown) << answer.error().to_string();
  want_no_standby();
  EXPECT_TRUE(retry_until_known(store_, request).value().duplicate);
}

TEST_F(StandbyTest, ACallersCommitWithACancelledStandbyWaitIsUnknown) {
  expect_unknown_commit();
}

TEST_F(StandbyTest, ACommitWithWarningsSuppressedIsUnknownToo) {
  server_.set("client_min_messages", "error");
  expect_unknown_commit();
}

}  // namespace
}  // namespace hapax::test
