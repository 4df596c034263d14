// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/postgres.hpp>

#include "support/callers.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace hapax {
namespace {

using test::ask;
using test::PgHandle;
using test::PostgresCaller;

const auto kNothing = [](PostgresTx&) {};

class PostgresSessionTest : public testing::Test {
 protected:
  test::ManualClock clock_;
  PostgresCaller caller_{clock_};
  PostgresSession session_ = caller_.attach();
  PgHandle other_ = caller_.database().connect();
  PostgresSession other_session_ =
      PostgresSession::attach(other_.get(), {.clock = &clock_}).value();
};

TEST_F(PostgresSessionTest, ANullOrClosedHandleIsAnErrorAtOnce) {
  EXPECT_EQ(PostgresSession::attach(nullptr).error().code(), Code::handle_closed);
  PostgresTransaction tx = other_session_.begin().value();
  ask(caller_.handle(),
      "SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(other_.get())) + ")");
  const Result<Once> lost = once(tx, {"s", "a"}, kNothing);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().outcome(), Outcome::did_not_happen) << "nothing of it was committed";
  EXPECT_EQ(once(tx, {"s", "a"}, kNothing).error().code(), Code::handle_closed);
  EXPECT_EQ(tx.commit().error().code(), Code::handle_closed);
  EXPECT_EQ(other_session_.begin().error().code(), Code::handle_closed);
}

TEST_F(PostgresSessionTest, AConnectionWithoutATransactionIsAnErrorAtOnce) {
  EXPECT_EQ(session_.join().error().code(), Code::not_in_transaction);
  PostgresTransaction tx = session_.begin().value();
  tx.rollback();
  EXPECT_EQ(once(tx, {"s", "a"}, kNothing).error().code(), Code::not_in_transaction);
  EXPECT_EQ(outbox(tx).enqueue({.destination = "d"}).error().code(), Code::not_in_transaction);
}

TEST_F(PostgresSessionTest, AFailedTransactionIsAnErrorAtOnce) {
  PostgresTransaction tx = session_.begin().value();
  PQclear(PQexec(tx.handle(), "SELECT 1/0"));
  const Result<Once> refused = once(tx, {"s", "a"}, kNothing);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_in_transaction);
  EXPECT_NE(refused.error().detail().find("roll it back"), std::string::npos);
}

TEST_F(PostgresSessionTest, ACommitOfAFailedTransactionIsNotReportedAsDone) {
  PostgresTransaction tx = session_.begin().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, kNothing));
  PQclear(PQexec(tx.handle(), "SELECT 1/0"));
  const Result<void> refused = tx.commit();
  ASSERT_FALSE(refused) << "PostgreSQL answers ROLLBACK";
  EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
  PostgresTransaction again = session_.begin().value();
  EXPECT_FALSE(once(again, {"s", "a"}, kNothing)->duplicate);
}

TEST_F(PostgresSessionTest, WorkThatHidesItsOwnFailureIsRolledBack) {
  PostgresTransaction tx = session_.begin().value();
  const Result<Once> refused = once(tx, {"s", "a"}, [](PostgresTx& t) {
    PQclear(PQexec(t.handle(), "INSERT INTO work VALUES('a')"));
    PQclear(PQexec(t.handle(), "SELECT 1/0"));
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::work_failed);
  ASSERT_TRUE(tx.commit()) << "the caller's transaction stays usable";
  EXPECT_EQ(test::count(caller_, "work"), 0);
}

TEST_F(PostgresSessionTest, WorkThatLeavesACommandRunningIsStillRolledBack) {
  PostgresTransaction tx = session_.begin().value();
  const Result<Once> failed = once(tx, {"s", "a"}, [](PostgresTx& t) -> Result<void> {
    PQsendQuery(t.handle(), "INSERT INTO work VALUES('a')");
    return Error(Code::work_failed, "no");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::work_failed);
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(test::count(caller_, "work"), 0);
  EXPECT_EQ(test::count(caller_, "hapax.claim"), 0);
}

TEST_F(PostgresSessionTest, ATransactionWithARunningCommandEndsWhenItsCommitIsRejected) {
  PostgresTransaction tx = session_.begin().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, kNothing));
  PQsendQuery(tx.handle(), "SELECT 1");
  EXPECT_EQ(tx.commit().error().code(), Code::invalid_argument);
  EXPECT_EQ(PQtransactionStatus(caller_.handle()), PQTRANS_IDLE);
  EXPECT_EQ(test::count(caller_, "hapax.claim"), 0);
}

TEST_F(PostgresSessionTest, ADeferredConstraintFailureAtTheCommitIsTheCallersAndDidNotHappen) {
  caller_.run(
      "CREATE TABLE parent(id int PRIMARY KEY);"
      "CREATE TABLE child(id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  PostgresTransaction tx = session_.begin().value();
  ASSERT_TRUE(
      once(tx, {"s", "a"}, [](PostgresTx& t) { ask(t.handle(), "INSERT INTO child VALUES(1)"); }));
  const Result<void> refused = tx.commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::work_failed) << refused.error().to_string();
  EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
  EXPECT_EQ(test::count(caller_, "hapax.claim"), 0);
}

TEST_F(PostgresSessionTest, AReusedKeyDoesNotEndTheTransaction) {
  PostgresTransaction tx = session_.begin().value();
  ASSERT_TRUE(outbox(tx).enqueue({.destination = "mail", .key = "k", .payload = "p"}));
  EXPECT_EQ(outbox(tx).enqueue({.destination = "mail", .key = "k", .payload = "q"}).error().code(),
            Code::key_reused);
  EXPECT_TRUE(tx.commit());
  EXPECT_EQ(test::count(caller_, "hapax.message"), 1);
}

TEST_F(PostgresSessionTest, ADestinationThatIsNotUtf8IsRefused) {
  PostgresTransaction tx = session_.begin().value();
  EXPECT_EQ(outbox(tx).enqueue({.destination = "\xff"}).error().code(), Code::invalid_argument);
}

TEST_F(PostgresSessionTest, BeginningInsideATransactionIsRefused) {
  PostgresTransaction tx = session_.begin().value();
  EXPECT_EQ(session_.begin().error().code(), Code::invalid_argument);
}

TEST_F(PostgresSessionTest, ABusyConnectionIsRefused) {
  ASSERT_EQ(PQenterPipelineMode(other_.get()), 1);
  EXPECT_EQ(other_session_.begin().error().code(), Code::invalid_argument);
}

TEST_F(PostgresSessionTest, AttachingWithMigrationOffNeedsTheSchema) {
  const test::PostgresDatabase empty(test::PostgresDatabase::Schema::none);
  const PgHandle connection = empty.connect();
  const Result<PostgresSession> refused =
      PostgresSession::attach(connection.get(), {.migrate = false});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail().find("run hapax migrate"), std::string::npos);
}

TEST_F(PostgresSessionTest, TheStoreAndOnceShareIds) {
  Store store = open(caller_.url(), {.clock = &clock_}).value();
  ASSERT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
  PostgresTransaction tx = session_.begin().value();
  EXPECT_TRUE(once(tx, {"s", "a"}, kNothing)->duplicate);
}

// One transaction holds the id and another waits for it. The answer to the second depends on how
// the first ends, at every isolation level.
class PostgresIsolationTest : public PostgresSessionTest,
                              public testing::WithParamInterface<const char*> {
 protected:
  // Returns the answer to the waiting transaction.
  Result<Once> wait_for(PostgresTransaction holder, bool commit) {
    std::optional<Result<Once>> answer;
    std::thread waiter([&] {
      ask(other_.get(), std::string("BEGIN ISOLATION LEVEL ") + GetParam());
      PostgresTx tx = other_session_.join().value();
      answer = once(tx, {"s", "a"}, kNothing);
      ask(other_.get(), "COMMIT");
    });
    EXPECT_TRUE(test::wait_for_lock_waiter(caller_.database().connect().get()));
    if (commit) {
      EXPECT_TRUE(holder.commit());
    } else {
      holder.rollback();
    }
    waiter.join();
    return *answer;
  }

  PostgresTransaction hold() {
    PostgresTransaction tx = session_.begin().value();
    EXPECT_FALSE(once(tx, {"s", "a"}, [](PostgresTx&) { return std::string("r"); })->duplicate);
    return tx;
  }
};

TEST_P(PostgresIsolationTest, ARolledBackIdGoesToTheWaitingTransaction) {
  const Result<Once> answer = wait_for(hold(), false);
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_FALSE(answer->duplicate);
}

TEST_P(PostgresIsolationTest, AnIdWhoseHolderCommitsIsADuplicateOrDidNotHappen) {
  const Result<Once> answer = wait_for(hold(), true);
  if (GetParam() == std::string("READ COMMITTED")) {
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_TRUE(answer->duplicate);
    EXPECT_EQ(answer->result, "r");
  } else {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), Code::store_busy);
    EXPECT_EQ(answer.error().outcome(), Outcome::did_not_happen);
    EXPECT_TRUE(answer.error().retryable());
  }
}

TEST_P(PostgresIsolationTest, ASnapshotFromBeforeTheClaimNeverRunsTheWorkTwice) {
  ask(other_.get(), std::string("BEGIN ISOLATION LEVEL ") + GetParam());
  ask(other_.get(), "SELECT count(*) FROM work");  // the snapshot is taken here
  ASSERT_TRUE(hold().commit());
  PostgresTx tx = other_session_.join().value();
  const Result<Once> answer = once(tx, {"s", "a"}, kNothing);
  ask(other_.get(), "ROLLBACK");
  if (answer) {
    EXPECT_TRUE(answer->duplicate);
  } else {
    EXPECT_EQ(answer.error().code(), Code::store_busy) << answer.error().to_string();
  }
}

TEST_P(PostgresIsolationTest, OnceAndOutboxCommitAtomically) {
  ask(caller_.handle(), std::string("BEGIN ISOLATION LEVEL ") + GetParam());
  PostgresTx tx = session_.join().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, [](PostgresTx& t) -> Result<void> {
    EXPECT_TRUE(outbox(t).enqueue({.destination = "mail", .key = "k"}));
    return PostgresCaller::insert_work(t, "a");
  }));
  ask(caller_.handle(), "COMMIT");
  EXPECT_EQ(test::count(caller_, "work"), 1);
  EXPECT_EQ(test::count(caller_, "hapax.message"), 1);
}

INSTANTIATE_TEST_SUITE_P(Levels, PostgresIsolationTest,
                         testing::Values("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::erase(name, ' ');
                           return name;
                         });

TEST_F(PostgresSessionTest, ASerializationFailureAtTheCommitIsBusyAndDidNotHappen) {
  caller_.run("CREATE TABLE account(n int); INSERT INTO account VALUES (1), (2)");
  caller_.run("ALTER DATABASE " + caller_.database().name() +
              " SET default_transaction_isolation = 'serializable'");
  const PgHandle one = caller_.database().connect();
  const PgHandle two = caller_.database().connect();
  PostgresSession first = PostgresSession::attach(one.get()).value();
  PostgresSession second = PostgresSession::attach(two.get()).value();
  PostgresTransaction tx1 = first.begin().value();
  PostgresTransaction tx2 = second.begin().value();
  ask(one.get(), "SELECT sum(n) FROM account");
  ask(two.get(), "SELECT sum(n) FROM account");
  ask(one.get(), "INSERT INTO account VALUES (3)");
  ask(two.get(), "INSERT INTO account VALUES (4)");
  ASSERT_TRUE(tx1.commit());
  const Result<void> refused = tx2.commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::store_busy) << refused.error().to_string();
  EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
}

}  // namespace
}  // namespace hapax
