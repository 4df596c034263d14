// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct sqlite3;

namespace hapax {

class SqliteSession;

// A transaction in progress on the caller's sqlite3*. Whoever began it must end it. Valid as long
// as that transaction and its session.
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

// A transaction that hapax began. Rolled back on destruction without commit().
class HAPAX_API SqliteTransaction final : public SqliteTx {
 public:
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&& other) noexcept;
  ~SqliteTransaction() override;

  // On success everything is committed and, with the handle's `synchronous` at FULL, on disk.
  // store_busy: nothing happened, run the whole transaction again. work_failed: a deferred
  // constraint, nothing happened. outcome_unknown: the disk failed during the commit; reopen the
  // handle and call once() again; its answer is authoritative. After any error the transaction has
  // ended.
  Result<void> commit();
  void rollback();

 private:
  friend class SqliteSession;
  explicit SqliteTransaction(Session& session) : SqliteTx(session), open_(true) {}
  bool open_;
};

struct SqliteOptions {
  bool migrate = true;  // create or upgrade hapax's tables in the caller's database
  // Clock and randomness, for tests. They must outlive the session. null: the system's.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// hapax on a handle that the caller opened and will close. It keeps a few prepared statements
// there, so that once() costs no more than the same statements written by hand: destroy it before
// closing the handle (until then sqlite3_close fails with SQLITE_BUSY and closes nothing).
//
// Durability of a commit depends on the handle: `PRAGMA synchronous=FULL` (the default) survives a
// power cut. A duplicate is as durable as the first commit: hapax writes nothing for it, so if
// another handle committed the claim with `synchronous=NORMAL`, a power cut may undo that commit
// after this call has answered "duplicate". Work in an ATTACHed database is not atomic with the
// claim across a power cut: in WAL mode SQLite commits each file separately.
class HAPAX_API SqliteSession {
 public:
  // `db` is open. Errors: handle_closed, store_newer, misconfigured (migrate = false and no
  // schema), store_busy, store_read_only, store_full, store_corrupt, store_unavailable.
  static Result<SqliteSession> attach(sqlite3* db, const SqliteOptions& options = {});

  SqliteSession(SqliteSession&&) noexcept;
  SqliteSession& operator=(SqliteSession&&) noexcept;
  ~SqliteSession();

  // Begins a transaction and takes the write lock at once (BEGIN IMMEDIATE), so conflicts surface
  // before the work. invalid_argument if one is already in progress.
  Result<SqliteTransaction> begin() &;
  // The transaction that the caller has begun. not_in_transaction if there is none. After a BEGIN
  // without IMMEDIATE, once() or enqueue() must be the first statement: SQLite does not wait
  // (busy_timeout) for another writer once the transaction has read, and fails with store_busy
  // immediately.
  Result<SqliteTx> join() &;
  // The session must outlive the returned transaction.
  Result<SqliteTransaction> begin() && = delete;
  Result<SqliteTx> join() && = delete;

 private:
  explicit SqliteSession(std::unique_ptr<SqliteTx::Session> session);
  std::unique_ptr<SqliteTx::Session> session_;
};

}  // namespace hapax
