// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// once() and outbox() on a sqlite3* of the caller.

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct sqlite3;

namespace hapax {

class SqliteSession;
class SqliteTransaction;

/// A transaction in progress on the caller's sqlite3*, for once() and outbox(). Whoever began it
/// must end it. Valid as long as that transaction and its session. Like the handle, used by one
/// thread at a time.
class HAPAX_API SqliteTx : public Tx {
 public:
  /// The caller's handle, for statements of the work. Do not end the transaction with it inside
  /// once().
  sqlite3* handle() const;

 private:
  friend class SqliteSession;
  friend class SqliteTransaction;
  struct HAPAX_HIDDEN Session;
  explicit SqliteTx(Session& session) : session_(&session) {}

  Result<Entered> enter(const OnceId& what) override;
  Result<void> keep(const Entered& entered, std::string_view result) override;
  Result<bool> leave(const Entered& entered) override;
  Result<Enqueued> enqueue(const Message& message) override;
  Result<Enqueued> enqueue_once(const MessageId& id, const Message& message,
                                const std::string& headers, std::int64_t now_ms);

  Session* session_;
};

/// A transaction that hapax began. Destroying it without commit() rolls it back.
class HAPAX_API SqliteTransaction final : public SqliteTx {
 public:
  /// Takes over the other transaction; destroying `other` then does nothing.
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  /// Rolls back this transaction and takes over the other one.
  SqliteTransaction& operator=(SqliteTransaction&& other) noexcept;
  /// Rolls back, unless commit() or rollback() was called.
  ~SqliteTransaction() override;

  /// Commits. On success everything is committed and, with the handle's `synchronous` at FULL, on
  /// disk. After any error the transaction has ended.
  ///
  /// store_busy: nothing happened, run the whole transaction again. work_failed: a deferred
  /// constraint, nothing happened. not_in_transaction: it has already ended, here or by an error.
  /// handle_closed: the handle was closed. outcome_unknown: the disk failed during the commit;
  /// reopen the handle and call once() again, its answer is authoritative.
  Result<void> commit();
  /// Rolls back; never fails. Does nothing if the transaction has ended.
  void rollback();

 private:
  friend class SqliteSession;
  explicit SqliteTransaction(Session& session) : SqliteTx(session), open_(true) {}
  bool open_;
};

/// Options of SqliteSession::attach.
struct SqliteOptions {
  /// Create or upgrade hapax's tables (hapax_...) in the caller's database. false: an attach
  /// without the current ones is `misconfigured`; `hapax migrate` creates them.
  bool migrate = true;
  /// Time, for tests. It must outlive the session. null: the system's.
  Clock* clock = nullptr;
  /// Randomness, for tests. It must outlive the session. null: the system's.
  Random* random = nullptr;
};

/// hapax on a handle that the caller opened and will close. Used by one thread at a time, like the
/// handle. It keeps a few prepared statements there, so that once() costs no more than the same
/// statements written by hand: destroy it before closing the handle (until then sqlite3_close fails
/// with SQLITE_BUSY and closes nothing).
///
/// Durability of a commit depends on the handle: `PRAGMA synchronous=FULL` (the default) survives a
/// power cut. A duplicate is as durable as the first commit: hapax writes nothing for it, so if
/// another handle committed the claim with `synchronous=NORMAL`, a power cut may undo that commit
/// after this call has answered "duplicate". Work in an ATTACHed database is not atomic with the
/// claim across a power cut: in WAL mode SQLite commits each file separately.
class HAPAX_API SqliteSession {
 public:
  /// A session on `db`, which is open and outlives it. It changes no setting of the handle.
  ///
  /// handle_closed: `db` is null or closed. misconfigured: the schema is missing or older and
  /// `migrate` is false or a transaction is in progress, in which the schema is not changed.
  /// store_newer, store_busy, store_read_only, store_full, store_corrupt, store_unavailable: see
  /// Code; without the upgrade nothing has changed.
  static Result<SqliteSession> attach(sqlite3* db, const SqliteOptions& options = {});

  /// Takes over the other session. Its transactions stay valid.
  SqliteSession(SqliteSession&&) noexcept;
  /// Detaches this session and takes over the other one.
  SqliteSession& operator=(SqliteSession&&) noexcept;
  /// Detaches from the handle, which stays open. No transaction of the session may be in use.
  ~SqliteSession();

  /// Begins a transaction and takes the write lock at once (BEGIN IMMEDIATE), so that conflicts
  /// surface before the work. The session must outlive it.
  ///
  /// invalid_argument: a transaction is already in progress; join() it. handle_closed: the handle
  /// was closed. store_busy: another connection kept the lock for longer than the handle's
  /// busy_timeout, which is 0 unless the caller sets it. Others as in attach().
  Result<SqliteTransaction> begin() &;
  /// The transaction that the caller has begun and will end. The session must outlive it. After a
  /// BEGIN without IMMEDIATE, once() or enqueue() must be the first statement: SQLite does not wait
  /// (busy_timeout) for another writer once the transaction has read, and fails with store_busy
  /// immediately.
  ///
  /// not_in_transaction: none is in progress. handle_closed: the handle was closed.
  Result<SqliteTx> join() &;
  Result<SqliteTransaction> begin() && = delete;
  Result<SqliteTx> join() && = delete;

 private:
  explicit SqliteSession(std::unique_ptr<SqliteTx::Session> session);
  std::unique_ptr<SqliteTx::Session> session_;
};

}  // namespace hapax
