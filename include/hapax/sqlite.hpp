// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct sqlite3;

namespace hapax {

class SqliteSession;

// A transaction in progress on the caller's sqlite3*. Who began it ends it. Valid as long as that
// transaction and its session.
class HAPAX_API SqliteTx : public Tx {
 public:
  sqlite3* handle() const;  // for the caller's own statements

 protected:
  friend class SqliteSession;
  struct HAPAX_HIDDEN Session;
  explicit SqliteTx(Session& session) : session_(&session) {}
  Session* session_;

 private:
  Result<Entered> enter(const OnceId& what) override;
  Result<void> keep(const Entered& entered, std::string_view result) override;
  Result<bool> leave(const Entered& entered) override;
  Result<Enqueued> enqueue(const Message& message) override;
  Result<Enqueued> enqueue_once(const MessageId& id, const Message& message,
                                const std::string& headers, std::int64_t now_ms);
};

// A transaction that hapax began. Rolled back when it goes without commit().
class HAPAX_API SqliteTransaction final : public SqliteTx {
 public:
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&& other) noexcept;
  ~SqliteTransaction() override;

  // On success everything is committed and, with the handle's `synchronous` at FULL, on disk.
  // store_busy: nothing happened, run the whole transaction again. work_failed: a deferred
  // constraint, nothing happened. outcome_unknown: the disk failed during the commit; open the
  // handle anew and call once() again, its answer is the truth. After any error the transaction is
  // over.
  Result<void> commit();
  void rollback();

 private:
  friend class SqliteSession;
  explicit SqliteTransaction(Session& session) : SqliteTx(session), open_(true) {}
  bool open_;
};

struct SqliteOptions {
  bool migrate = true;  // create or upgrade hapax's tables in the caller's database
  // The world, for tests. They must outlive the session; null is the real one.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// hapax on a handle that the caller opened and will close. It keeps a few prepared statements
// there, so that once() costs no more than the same statements written by hand: destroy it before
// the handle is closed (until then sqlite3_close answers SQLITE_BUSY and closes nothing).
//
// How durable a commit is, is the handle's own affair: `PRAGMA synchronous=FULL` (SQLite's default)
// makes it survive a power cut. A duplicate is as durable as the commit of the first: hapax writes
// nothing for it, so where another handle committed the claim with `synchronous=NORMAL`, a power
// cut may take that commit back after this call has answered "duplicate". Work in another, ATTACHed
// database is not one fact with the claim when the power goes: in WAL mode SQLite commits each file
// on its own.
class HAPAX_API SqliteSession {
 public:
  // `db` is open. Errors: handle_closed, store_newer, misconfigured (migrate = false and no
  // schema), store_busy, store_read_only, store_full, store_corrupt, store_unavailable.
  static Result<SqliteSession> attach(sqlite3* db, const SqliteOptions& options = {});

  SqliteSession(SqliteSession&&) noexcept;
  SqliteSession& operator=(SqliteSession&&) noexcept;
  ~SqliteSession();

  // Begins a transaction and takes the write lock at once (BEGIN IMMEDIATE), so that a conflict
  // shows here and not after the work. invalid_argument when one is in progress already.
  Result<SqliteTransaction> begin() &;
  // The transaction that the caller has begun. not_in_transaction when there is none.
  // Of a BEGIN without IMMEDIATE let once() or enqueue() be the first statement: SQLite does not
  // wait (busy_timeout) for another writer where a transaction has read before it writes, and the
  // answer is store_busy at once.
  Result<SqliteTx> join() &;
  // What they return uses the session, which must outlive it.
  Result<SqliteTransaction> begin() && = delete;
  Result<SqliteTx> join() && = delete;

 private:
  explicit SqliteSession(std::unique_ptr<SqliteTx::Session> session);
  std::unique_ptr<SqliteTx::Session> session_;
};

}  // namespace hapax
