// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct pg_conn;  // PGconn

namespace hapax {

class PostgresSession;

// A transaction in progress on the caller's PGconn*. Whoever began it must end it. Valid as long as
// that transaction and its session.
class HAPAX_API PostgresTx : public Tx {
 public:
  pg_conn* handle() const;  // for the caller's own statements

 protected:
  friend class PostgresSession;
  struct HAPAX_HIDDEN Session;
  explicit PostgresTx(Session& session) : session_(&session) {}
  Session* session_;

 private:
  Result<Entered> enter(const OnceId& what) override;
  Result<void> keep(const Entered& entered, std::string_view result) override;
  Result<bool> leave(const Entered& entered) override;
  Result<Enqueued> enqueue(const Message& message) override;
};

// A transaction that hapax began. Rolled back on destruction without commit().
class HAPAX_API PostgresTransaction final : public PostgresTx {
 public:
  PostgresTransaction(PostgresTransaction&& other) noexcept;
  PostgresTransaction& operator=(PostgresTransaction&& other) noexcept;
  ~PostgresTransaction() override;

  // On success everything is committed and on the server's disk. store_busy: a serialization
  // failure, nothing happened, run the whole transaction again. work_failed: a deferred constraint.
  // not_in_transaction: a statement had failed before, so PostgreSQL rolled back. outcome_unknown:
  // the answer was lost; reconnect and call once() again; its answer is authoritative. After any
  // error the transaction has ended. A cancelled wait for a synchronous standby is unknown too,
  // unless the connection has its own notice receiver, which hapax does not replace.
  Result<void> commit();
  void rollback();

 private:
  friend class PostgresSession;
  explicit PostgresTransaction(Session& session) : PostgresTx(session), open_(true) {}
  bool open_;
};

struct PostgresOptions {
  bool migrate = true;  // create or upgrade the schema hapax in the caller's database
  // Clock and randomness, for tests. They must outlive the session. null: the server's clock and
  // the system's randomness.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// hapax on a connection that the caller opened and will close, directly or through pgbouncer. It
// keeps no server-side state. Works at read committed, repeatable read and serializable; a
// serialization failure is reported as store_busy: roll back and run the whole transaction again. A
// call waits for another transaction that holds the same id, up to the connection's lock_timeout.
class HAPAX_API PostgresSession {
 public:
  // `connection` is open, idle and not in pipeline mode. Errors: handle_closed, invalid_argument,
  // store_newer, misconfigured (server too old, fsync off, no right to create the schema, or
  // migrate = false and no schema), store_read_only, store_unavailable. If a pooler keeps
  // `connection` open across a server restart or failover, attach again outside a transaction;
  // until then enqueue may fail with store_busy.
  static Result<PostgresSession> attach(pg_conn* connection, const PostgresOptions& options = {});

  PostgresSession(PostgresSession&&) noexcept;
  PostgresSession& operator=(PostgresSession&&) noexcept;
  ~PostgresSession();

  // Begins a transaction at the database's default isolation level. To use another level, begin the
  // transaction yourself and join() it. invalid_argument if one is already in progress.
  Result<PostgresTransaction> begin() &;
  // The transaction that the caller has begun. not_in_transaction if there is none.
  Result<PostgresTx> join() &;
  // The session must outlive the returned transaction.
  Result<PostgresTransaction> begin() && = delete;
  Result<PostgresTx> join() && = delete;

 private:
  explicit PostgresSession(std::unique_ptr<PostgresTx::Session> session);
  std::unique_ptr<PostgresTx::Session> session_;
};

}  // namespace hapax
