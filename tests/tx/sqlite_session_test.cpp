// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/sqlite.hpp>

#include "support/sqlite.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace hapax {
namespace {

using test::CallersDatabase;
using test::insert_work;

class SqliteSessionTest : public testing::Test {
 protected:
  test::TempDir directory_;
  std::string file_ = directory_.file("app.db");
};

TEST_F(SqliteSessionTest, ANullHandleIsAnErrorAtOnce) {
  EXPECT_EQ(SqliteSession::attach(nullptr).error().code(), Code::handle_closed);
}

TEST_F(SqliteSessionTest, AHandleWithoutATransactionIsAnErrorAtOnce) {
  const CallersDatabase db(file_);
  SqliteSession session = SqliteSession::attach(db.get()).value();
  const Result<SqliteTx> tx = session.join();
  ASSERT_FALSE(tx);
  EXPECT_EQ(tx.error().code(), Code::not_in_transaction);
  EXPECT_NE(tx.error().detail().find("begin one first"), std::string::npos);
}

TEST_F(SqliteSessionTest, AHandleClosedDuringTheSessionIsAnErrorAtOnce) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
  SqliteSession session = SqliteSession::attach(db).value();
  EXPECT_EQ(sqlite3_close(db), SQLITE_BUSY) << "the session still holds statements";
  SqliteTransaction tx = session.begin().value();
  ASSERT_EQ(sqlite3_close_v2(db), SQLITE_OK);
  EXPECT_EQ(once(tx, {"s", "a"}, [](SqliteTx&) {}).error().code(), Code::handle_closed);
  EXPECT_EQ(outbox(tx).enqueue({.destination = "d"}).error().code(), Code::handle_closed);
  EXPECT_EQ(tx.commit().error().code(), Code::handle_closed);
  EXPECT_EQ(session.begin().error().code(), Code::handle_closed);
}

TEST_F(SqliteSessionTest, TheHandleClosesOnceTheSessionIsGone) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
  { ASSERT_TRUE(SqliteSession::attach(db)); }
  EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
}

TEST_F(SqliteSessionTest, BeginningInsideATransactionIsRefused) {
  const CallersDatabase db(file_);
  SqliteSession session = SqliteSession::attach(db.get()).value();
  db.run("BEGIN");
  const Result<SqliteTransaction> tx = session.begin();
  ASSERT_FALSE(tx);
  EXPECT_EQ(tx.error().code(), Code::invalid_argument);
  EXPECT_NE(tx.error().detail().find("join()"), std::string::npos);
  db.run("COMMIT");
}

TEST_F(SqliteSessionTest, ATransactionEndsOnce) {
  const CallersDatabase db(file_);
  SqliteSession session = SqliteSession::attach(db.get()).value();
  SqliteTransaction tx = session.begin().value();
  EXPECT_TRUE(tx.commit());
  EXPECT_EQ(tx.commit().error().code(), Code::not_in_transaction);
  tx.rollback();
  SqliteTransaction first = session.begin().value();
  db.run("INSERT INTO work VALUES('lost')");
  first = SqliteTransaction(std::move(first));
  first.rollback();
  EXPECT_EQ(db.count("work"), 0);
}

TEST_F(SqliteSessionTest, AMovedFromTransactionEndsNothing) {
  const CallersDatabase db(file_);
  SqliteSession session = SqliteSession::attach(db.get()).value();
  std::optional<SqliteTransaction> from = session.begin().value();
  SqliteTransaction to = std::move(*from);
  from.reset();
  db.run("INSERT INTO work VALUES('kept')");
  EXPECT_TRUE(to.commit());
  EXPECT_EQ(db.count("work"), 1);
}

TEST_F(SqliteSessionTest, AttachingCreatesTheSchemaUnlessDisabled) {
  const CallersDatabase db(file_);
  const Result<SqliteSession> refused = SqliteSession::attach(db.get(), {.migrate = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::misconfigured);
  EXPECT_TRUE(SqliteSession::attach(db.get()));
  EXPECT_TRUE(SqliteSession::attach(db.get(), {.migrate = false}));
}

TEST_F(SqliteSessionTest, AttachingInsideATransactionNeedsAnExistingSchema) {
  const CallersDatabase db(file_);
  db.run("BEGIN");
  const Result<SqliteSession> refused = SqliteSession::attach(db.get());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail().find("before the transaction begins"), std::string::npos);
  db.run("COMMIT");
  ASSERT_TRUE(SqliteSession::attach(db.get()));
  db.run("BEGIN");
  SqliteSession session = SqliteSession::attach(db.get()).value();
  EXPECT_TRUE(session.join());
  db.run("COMMIT");
}

TEST_F(SqliteSessionTest, KeepsTheCallersJournalMode) {
  const CallersDatabase db(file_);
  db.run("PRAGMA journal_mode=DELETE");
  SqliteSession session = SqliteSession::attach(db.get()).value();
  SqliteTransaction tx = session.begin().value();
  EXPECT_FALSE(once(tx, {"s", "a"}, [](SqliteTx&) {})->duplicate);
  EXPECT_TRUE(tx.commit());
  EXPECT_EQ(db.text("PRAGMA journal_mode"), "delete");
}

TEST_F(SqliteSessionTest, ACommitBlockedByAReaderIsBusyAndDidNotHappen) {
  const CallersDatabase db(file_);
  db.run("PRAGMA journal_mode=DELETE");
  SqliteSession session = SqliteSession::attach(db.get()).value();
  const CallersDatabase reader(directory_.file("other.db"));
  reader.run("ATTACH '" + file_ + "' AS app");
  SqliteTransaction tx = session.begin().value();
  EXPECT_FALSE(once(tx, {"s", "a"}, [](SqliteTx&) {})->duplicate);
  reader.run("BEGIN; SELECT * FROM app.sqlite_schema");
  const Result<void> blocked = tx.commit();
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error().code(), Code::store_busy);
  EXPECT_EQ(blocked.error().outcome(), Outcome::did_not_happen);
  reader.run("COMMIT");
  SqliteTransaction again = session.begin().value();
  EXPECT_FALSE(once(again, {"s", "a"}, [](SqliteTx&) {})->duplicate);
}

// Cases specific to SQLite; the common ones are in once_test.cpp.
class SqliteOnceTest : public SqliteSessionTest {
 protected:
  bool duplicate(const OnceId& what) {
    SqliteTransaction tx = session_.begin().value();
    const bool was = once(tx, what, [](SqliteTx&) {}).value().duplicate;
    EXPECT_TRUE(tx.commit());
    return was;
  }

  CallersDatabase db_{file_};
  SqliteSession session_ = SqliteSession::attach(db_.get()).value();
};

// If an insert were skipped because another transaction holds the id, and that one rolled back, the
// event would be lost.
TEST_F(SqliteOnceTest, ARolledBackIdGoesToTheWaitingTransaction) {
  const CallersDatabase other_db(file_);
  SqliteSession other = SqliteSession::attach(other_db.get()).value();
  SqliteTransaction holder = session_.begin().value();
  ASSERT_TRUE(once(holder, {"s", "a"}, [](SqliteTx&) {}));
  const Result<SqliteTransaction> waiting = other.begin();
  ASSERT_FALSE(waiting) << "two writers at once";
  EXPECT_EQ(waiting.error().code(), Code::store_busy);
  EXPECT_EQ(waiting.error().outcome(), Outcome::did_not_happen);
  holder.rollback();
  SqliteTransaction now = other.begin().value();
  EXPECT_FALSE(once(now, {"s", "a"}, [](SqliteTx&) {})->duplicate);
  EXPECT_TRUE(now.commit());
}

TEST_F(SqliteOnceTest, AStaleSnapshotIsBusyAndDidNotHappen) {
  db_.run("BEGIN DEFERRED");
  EXPECT_EQ(db_.count("work"), 0);  // the snapshot is taken here
  const CallersDatabase other(file_);
  other.run("INSERT INTO work VALUES('other')");
  SqliteTx tx = session_.join().value();
  const Result<Once> refused = once(tx, {"s", "a"}, [](SqliteTx&) {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::store_busy);
  EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
  EXPECT_TRUE(refused.error().retryable());
  db_.run("ROLLBACK");
  EXPECT_FALSE(duplicate({"s", "a"}));
}

// Jobs are often fetched by a statement that updates rows and returns them one by one.
class SqliteStatementInProgressTest : public SqliteOnceTest {
 protected:
  SqliteStatementInProgressTest() { db_.run("INSERT INTO work VALUES('1'), ('2'), ('3')"); }
  ~SqliteStatementInProgressTest() override { sqlite3_finalize(update_); }

  // Steps to the first row.
  void begin_update() {
    ASSERT_EQ(sqlite3_prepare_v2(db_.get(), "UPDATE work SET id = id || '!' RETURNING id", -1,
                                 &update_, nullptr),
              SQLITE_OK);
    ASSERT_EQ(sqlite3_step(update_), SQLITE_ROW);
  }
  void expect_refused_and_nothing_changed(const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument) << error.to_string();
    EXPECT_EQ(error.outcome(), Outcome::did_not_happen);
    EXPECT_NE(error.detail().find("reset it"), std::string::npos) << error.detail();
    EXPECT_EQ(error.detail().find("rolled back"), std::string::npos) << error.detail();
    EXPECT_EQ(sqlite3_get_autocommit(db_.get()), 0) << "the caller's transaction is gone";
    EXPECT_EQ(sqlite3_step(update_), SQLITE_ROW) << "and the caller's statement with it";
  }

  sqlite3_stmt* update_ = nullptr;
};

TEST_F(SqliteStatementInProgressTest, OnceLeavesTheTransactionUnchanged) {
  db_.run("BEGIN IMMEDIATE");
  begin_update();
  SqliteTx tx = session_.join().value();
  const Result<Once> refused = once(tx, {"s", "a"}, [](SqliteTx&) {});
  ASSERT_FALSE(refused);
  expect_refused_and_nothing_changed(refused.error());
  sqlite3_reset(update_);
  db_.run("INSERT INTO work VALUES('after')");
  db_.run("ROLLBACK");
  EXPECT_EQ(db_.count("work"), 3) << "the caller rolled everything back";
  EXPECT_EQ(db_.text("SELECT group_concat(id) FROM work"), "1,2,3");
}

TEST_F(SqliteStatementInProgressTest, OnceRunsWhenTheStatementIsReset) {
  db_.run("BEGIN IMMEDIATE");
  begin_update();
  SqliteTx tx = session_.join().value();
  ASSERT_FALSE(once(tx, {"s", "a"}, [](SqliteTx&) {}));
  sqlite3_reset(update_);
  const Result<Once> again =
      once(tx, {"s", "a"}, [](SqliteTx& t) { return insert_work(t.handle(), "a"); });
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_FALSE(again->duplicate);
  db_.run("COMMIT");
  EXPECT_EQ(db_.text("SELECT group_concat(id) FROM work"), "1!,2!,3!,a");
}

TEST_F(SqliteStatementInProgressTest, EnqueueWithAKeyLeavesTheTransactionUnchanged) {
  db_.run("BEGIN IMMEDIATE");
  begin_update();
  SqliteTx tx = session_.join().value();
  const Result<Enqueued> refused = outbox(tx).enqueue({.destination = "d", .key = "k"});
  ASSERT_FALSE(refused);
  expect_refused_and_nothing_changed(refused.error());
  EXPECT_TRUE(outbox(tx).enqueue({.destination = "d"})) << "without a key there is no savepoint";
  sqlite3_reset(update_);
  db_.run("COMMIT");
  EXPECT_EQ(db_.count("hapax_message"), 1);
  EXPECT_EQ(db_.text("SELECT group_concat(id) FROM work"), "1!,2!,3!");
}

TEST_F(SqliteStatementInProgressTest, WorkThatLeavesASavepointIsRolledBackAndReported) {
  SqliteTransaction tx = session_.begin().value();
  const Result<Once> failed = once(tx, {"s", "a"}, [&](SqliteTx&) { begin_update(); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::invalid_argument) << failed.error().to_string();
  EXPECT_NE(failed.error().detail().find("whole transaction was rolled back"), std::string::npos)
      << failed.error().detail();
  EXPECT_NE(sqlite3_get_autocommit(db_.get()), 0);
  sqlite3_reset(update_);
  EXPECT_EQ(db_.text("SELECT group_concat(id) FROM work"), "1,2,3");
  EXPECT_FALSE(duplicate({"s", "a"}));
}

// A rollback by SQLite itself is reported too.
TEST_F(SqliteOnceTest, EnqueueReportsALostTransaction) {
  db_.run("PRAGMA max_page_count=30");
  SqliteTransaction tx = session_.begin().value();
  ASSERT_TRUE(insert_work(tx.handle(), "mine"));
  const std::string payload(400'000, 'p');
  const Result<Enqueued> full = outbox(tx).enqueue({.destination = "d", .payload = payload});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::store_full) << full.error().to_string();
  ASSERT_NE(sqlite3_get_autocommit(db_.get()), 0) << "or this tests nothing";
  EXPECT_NE(full.error().detail().find("whole transaction was rolled back"), std::string::npos)
      << full.error().detail();
}

// A deferred transaction that has not read yet waits for another writer like any write.
class SqliteDeferredTest : public SqliteOnceTest {
 protected:
  SqliteDeferredTest() {
    other_.run("BEGIN IMMEDIATE; INSERT INTO work VALUES('other')");
    // Simulates the wait: the other writer commits meanwhile.
    sqlite3_busy_handler(
        db_.get(),
        [](void* self, int) {
          static_cast<SqliteDeferredTest*>(self)->other_.try_run("COMMIT");
          return 1;
        },
        this);
    db_.run("BEGIN");
  }

  CallersDatabase other_{file_};
};

TEST_F(SqliteDeferredTest, OnceWaitsForAnotherWriter) {
  SqliteTx tx = session_.join().value();
  const Result<Once> done =
      once(tx, {"s", "a"}, [](SqliteTx& t) { return insert_work(t.handle(), "a"); });
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_FALSE(done->duplicate);
  db_.run("COMMIT");
  EXPECT_EQ(db_.text("SELECT group_concat(id) FROM work"), "other,a");
}

TEST_F(SqliteDeferredTest, EnqueueWaitsForAnotherWriter) {
  SqliteTx tx = session_.join().value();
  const Result<Enqueued> done = outbox(tx).enqueue({.destination = "d", .key = "k"});
  ASSERT_TRUE(done) << done.error().to_string();
  db_.run("COMMIT");
  EXPECT_EQ(db_.count("hapax_message"), 1);
}

TEST_F(SqliteOnceTest, AFullDiskInTheWorkRollsBackTheClaim) {
  db_.run("PRAGMA max_page_count=12");
  SqliteTransaction tx = session_.begin().value();
  const Result<Once> full = once(tx, {"s", "a"}, [&](SqliteTx& t) {
    return insert_work(t.handle(), std::string(200'000, 'w'));
  });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::work_failed);
  static_cast<void>(tx.commit().has_value());  // SQLite may have rolled back by itself
  db_.run("PRAGMA max_page_count=1000000");
  EXPECT_EQ(db_.count("work"), 0);
  EXPECT_FALSE(duplicate({"s", "a"}));
}

// The handle's last error is then SQLITE_MISUSE, as for a closed handle.
TEST_F(SqliteOnceTest, WorkThatMisusesItsOwnStatementIsStillRolledBack) {
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db_.get(), "SELECT ?1 UNION SELECT 2", -1, &statement, nullptr),
            SQLITE_OK);
  SqliteTransaction tx = session_.begin().value();
  const Result<Once> failed = once(tx, {"s", "a"}, [&](SqliteTx& t) -> Result<void> {
    EXPECT_TRUE(insert_work(t.handle(), "a"));
    sqlite3_step(statement);
    EXPECT_EQ(sqlite3_bind_int(statement, 1, 1), SQLITE_MISUSE);
    return Error(Code::work_failed, "misuse");
  });
  sqlite3_finalize(statement);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::work_failed);
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(db_.count("work"), 0);
  EXPECT_FALSE(duplicate({"s", "a"}));
}

TEST_F(SqliteOnceTest, ADeferredConstraintFailureAtTheCommitIsTheCallersAndDidNotHappen) {
  db_.run(
      "PRAGMA foreign_keys=ON; CREATE TABLE parent(id INTEGER PRIMARY KEY);"
      "CREATE TABLE child(id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  SqliteTransaction tx = session_.begin().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, [&](SqliteTx&) { db_.run("INSERT INTO child VALUES(1)"); }));
  const Result<void> refused = tx.commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::work_failed) << refused.error().to_string();
  EXPECT_EQ(refused.error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(duplicate({"s", "a"}));
}

TEST_F(SqliteOnceTest, AnErrorReportsALostTransaction) {
  SqliteTransaction tx = session_.begin().value();
  const Result<Once> failed = once(tx, {"s", "a"}, [&](SqliteTx&) -> Result<void> {
    db_.run("ROLLBACK");
    return Error(Code::work_failed, "no");
  });
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().detail().find("the whole transaction was rolled back"),
            std::string::npos);
}

TEST_F(SqliteOnceTest, AMessageOverTheLimitsOfTheHandleIsRejected) {
  sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH, 100'000);
  SqliteTransaction tx = session_.begin().value();
  const std::string payload(200'000, 'p');
  EXPECT_EQ(outbox(tx).enqueue({.destination = "d", .payload = payload}).error().code(),
            Code::invalid_argument);
  EXPECT_TRUE(tx.commit());
}

TEST_F(SqliteOnceTest, AHandleWithCountChangesWorks) {
  db_.run("PRAGMA count_changes=ON");
  EXPECT_FALSE(duplicate({"s", "a"}));
  EXPECT_TRUE(duplicate({"s", "a"}));
}

}  // namespace
}  // namespace hapax
