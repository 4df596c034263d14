// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/gate.hpp"
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <future>

// The answer to the COMMIT of a caller's transaction is lost. The caller reconnects and calls
// once() again.
namespace hapax::test {
namespace {

class LostCommitTest : public testing::Test {
 protected:
  LostCommitTest() { witness_.text("CREATE TABLE work(id text)"); }

  PgHandle connect() const {
    PgHandle connection(PQconnectdb(gate_.url(database_.name()).c_str()));
    EXPECT_EQ(PQstatus(connection.get()), CONNECTION_OK) << PQerrorMessage(connection.get());
    return connection;
  }

  // Does the work unless it was done; the work inserts a row.
  static Result<Once> do_once(PostgresTx& tx, const std::string& id) {
    return once(tx, {kScope, id}, [&](PostgresTx& inside) {
      ask(inside.handle(), "INSERT INTO work VALUES ('" + id + "')");
      return "result of " + id;
    });
  }

  // Runs a transaction whose COMMIT meets the fault.
  void commit_and_lose(Fault fault, const std::string& id) {
    const PgHandle connection = connect();
    PostgresSession session = PostgresSession::attach(connection.get()).value();
    PostgresTransaction tx = session.begin().value();
    const Result<Once> fresh = do_once(tx, id);
    ASSERT_TRUE(fresh) << fresh.error().to_string();
    EXPECT_FALSE(fresh->duplicate);
    gate_.arm(fault, Kind::commit);
    const Result<void> lost = tx.commit();
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code(), Code::outcome_unknown) << lost.error().to_string();
    EXPECT_EQ(lost.error().outcome(), Outcome::unknown) << lost.error().to_string();
  }

  // Calls once() again on a new connection.
  Result<Once> ask_again(const std::string& id) const {
    const PgHandle connection = connect();
    PostgresSession session = PostgresSession::attach(connection.get()).value();
    PostgresTransaction tx = session.begin().value();
    Result<Once> answer = do_once(tx, id);
    if (Result<void> done = tx.commit(); !done) return std::move(done).error();
    return answer;
  }

  void expect_done_once(const std::string& id) const {
    EXPECT_EQ(witness_.number("SELECT count(*) FROM work WHERE id = '" + id + "'"), 1) << id;
  }

  PostgresDatabase database_;
  Gate gate_;
  Witness witness_{database_.connect()};
};

TEST_F(LostCommitTest, ACommitWithALostAnswerIsUnknownAndOnceResolvesIt) {
  const int count = rounds(200);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const std::string id = std::to_string(i);
    const Fault fault = i % 2 == 0 ? Fault::cut_before : Fault::cut_after;
    commit_and_lose(fault, id);
    const Result<Once> truth = ask_again(id);
    ASSERT_TRUE(truth) << truth.error().to_string();
    EXPECT_EQ(truth->duplicate, fault == Fault::cut_after) << id;
    EXPECT_EQ(truth->result, "result of " + id);
    expect_done_once(id);
  }
  EXPECT_EQ(gate_.strikes(), count);
  RecordProperty("answers_lost", gate_.strikes());
}

TEST_F(LostCommitTest, OnceWaitsForAnOldBackendThatCommitsAfterTheReconnect) {
  const int count = rounds(100);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const std::string id = std::to_string(i);
    commit_and_lose(Fault::hold, id);
    auto again = std::async(std::launch::async, [&] { return ask_again(id); });
    witness_.wait_for_backend("transactionid");
    gate_.release_held();
    const Result<Once> truth = again.get();
    ASSERT_TRUE(truth) << truth.error().to_string();
    EXPECT_TRUE(truth->duplicate) << "the old backend committed";
    EXPECT_EQ(truth->result, "result of " + id);
    gate_.wait_until_held_is_answered();
    expect_done_once(id);
  }
}

TEST_F(LostCommitTest, AConnectionCutInsideTheTransactionRollsBack) {
  const PgHandle connection = connect();
  PostgresSession session = PostgresSession::attach(connection.get()).value();
  PostgresTransaction tx = session.begin().value();
  gate_.arm(Fault::cut_after, Kind::any);
  const Result<Once> lost = once(tx, {kScope, "a"}, [](PostgresTx&) {});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().outcome(), Outcome::did_not_happen) << lost.error().to_string();
  EXPECT_EQ(tx.commit().error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(ask_again("a").value().duplicate);
  expect_done_once("a");
}

TEST_F(LostCommitTest, ASchemaWhoseCommitIsLostExistsOrCanBeCreated) {
  for (const Fault fault : {Fault::cut_before, Fault::cut_after}) {
    const PostgresDatabase empty(PostgresDatabase::Schema::none);
    gate_.arm(fault, Kind::commit);
    const Result<Store> lost = open(gate_.url(empty.name()));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().outcome(), Outcome::unknown) << lost.error().to_string();
    Result<Store> store = open(gate_.url(empty.name()));
    ASSERT_TRUE(store) << store.error().to_string();
    EXPECT_FALSE(store->dedup({.scope = kScope, .id = "a"}).value().duplicate);
  }
}

}  // namespace
}  // namespace hapax::test
