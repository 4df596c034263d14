// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// once() and outbox() on a PGconn* of the caller.

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct pg_conn;  // PGconn

namespace hapax {

class PostgresSession;
class PostgresTransaction;

/// A transaction in progress on the caller's PGconn*, for once() and outbox(). Whoever began it
/// must end it. Valid as long as that transaction and its session. Like the connection, used by one
/// thread at a time.
class HAPAX_API PostgresTx : public Tx {
 public:
  /// The caller's connection, for statements of the work. Read all results of a statement before
  /// the next call of hapax. Do not end the transaction with it inside once().
  pg_conn* handle() const;

 private:
  friend class PostgresSession;
  friend class PostgresTransaction;
  struct HAPAX_HIDDEN Session;
  explicit PostgresTx(Session& session) : session_(&session) {}

  Result<Entered> enter(const OnceId& what) override;
  Result<void> keep(const Entered& entered, std::string_view result) override;
  Result<bool> leave(const Entered& entered) override;
  Result<Enqueued> enqueue(const Message& message) override;

  Session* session_;
};

/// A transaction that hapax began. Destroying it without commit() rolls it back.
class HAPAX_API PostgresTransaction final : public PostgresTx {
 public:
  /// Takes over the other transaction; destroying `other` then does nothing.
  PostgresTransaction(PostgresTransaction&& other) noexcept;
  /// Rolls back this transaction and takes over the other one.
  PostgresTransaction& operator=(PostgresTransaction&& other) noexcept;
  /// Rolls back, unless commit() or rollback() was called.
  ~PostgresTransaction() override;

  /// Commits. On success everything is committed and on the server's disk. After any error the
  /// transaction has ended.
  ///
  /// store_busy: a serialization failure, nothing happened, run the whole transaction again.
  /// work_failed: a deferred constraint, nothing happened. not_in_transaction: a statement had
  /// failed before, so PostgreSQL rolled back, or the transaction has already ended.
  /// invalid_argument: the connection is busy with another command; rolled back. handle_closed: the
  /// connection had broken before the commit was sent. outcome_unknown: the answer was lost;
  /// reconnect and call once() again, its answer is authoritative. A cancelled wait for a
  /// synchronous standby is unknown too, unless the connection has its own notice receiver, which
  /// hapax does not replace.
  Result<void> commit();
  /// Rolls back; errors are ignored, because the server rolls back a connection that ends. Does
  /// nothing if the transaction has ended.
  void rollback();

 private:
  friend class PostgresSession;
  explicit PostgresTransaction(Session& session) : PostgresTx(session), open_(true) {}
  bool open_;
};

/// Options of PostgresSession::attach.
struct PostgresOptions {
  /// Create or upgrade the schema `hapax` in the caller's database. false: an attach without the
  /// current one is `misconfigured`; `hapax migrate` creates it.
  bool migrate = true;
  /// Time, for tests. It must outlive the session. null: the server's clock.
  Clock* clock = nullptr;
  /// Randomness, for tests. It must outlive the session. null: the system's.
  Random* random = nullptr;
};

/// hapax on a connection that the caller opened and will close, directly or through pgbouncer. Used
/// by one thread at a time, like the connection. It keeps no server-side state.
///
/// It works at read committed, repeatable read and serializable; a serialization failure is
/// reported as store_busy: roll back and run the whole transaction again. A call waits for another
/// transaction that holds the same id, up to the connection's lock_timeout, which is unlimited by
/// default.
class HAPAX_API PostgresSession {
 public:
  /// A session on `connection`, which is open, idle, not in pipeline mode and outlives the session.
  /// In a transaction the schema is only checked. If a pooler keeps the connection open across a
  /// server restart or failover, attach again outside a transaction; until then enqueue may fail
  /// with store_busy.
  ///
  /// handle_closed: it is null or not connected. invalid_argument: pipeline mode, or a command is
  /// in progress. misconfigured: server too old, fsync off, no right to create or write the schema,
  /// or no current schema and no migration. store_newer, store_busy, store_read_only,
  /// store_unavailable: see Code.
  static Result<PostgresSession> attach(pg_conn* connection, const PostgresOptions& options = {});

  /// Takes over the other session. Its transactions stay valid.
  PostgresSession(PostgresSession&&) noexcept;
  /// Detaches this session and takes over the other one.
  PostgresSession& operator=(PostgresSession&&) noexcept;
  /// Detaches from the connection, which stays open. No transaction of the session may be in use.
  ~PostgresSession();

  /// Begins a transaction at the database's default isolation level. To use another level, begin
  /// the transaction yourself and join() it. The session must outlive it.
  ///
  /// invalid_argument: a transaction is already in progress, or the connection is busy or in
  /// pipeline mode. handle_closed, store_busy, store_unavailable: see Code.
  Result<PostgresTransaction> begin() &;
  /// The transaction that the caller has begun and will end. The session must outlive it.
  ///
  /// not_in_transaction: none is in progress, or a statement of it has failed. invalid_argument and
  /// handle_closed as in begin().
  Result<PostgresTx> join() &;
  Result<PostgresTransaction> begin() && = delete;
  Result<PostgresTx> join() && = delete;

 private:
  explicit PostgresSession(std::unique_ptr<PostgresTx::Session> session);
  std::unique_ptr<PostgresTx::Session> session_;
};

}  // namespace hapax
