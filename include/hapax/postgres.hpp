// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/once.hpp>
#include <hapax/outbox.hpp>

#include <memory>

struct pg_conn;  // PGconn

namespace hapax {

class PostgresSession;

// A transaction in progress on the caller's PGconn*. Who began it ends it. Valid as long as that
// transaction and its session.
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

// A transaction that hapax began. Rolled back when it goes without commit().
class HAPAX_API PostgresTransaction final : public PostgresTx {
 public:
  PostgresTransaction(PostgresTransaction&& other) noexcept;
  PostgresTransaction& operator=(PostgresTransaction&& other) noexcept;
  ~PostgresTransaction() override;

  // On success everything is committed and on the server's disk. store_busy: a serialization
  // failure, nothing happened, run the whole transaction again. work_failed: a deferred constraint.
  // not_in_transaction: a statement had failed before, so PostgreSQL rolled back. outcome_unknown:
  // the answer was lost; connect anew and call once() again, its answer is the truth. After any
  // error the transaction is over. A cancelled wait for a synchronous standby is unknown too,
  // unless the connection has a notice receiver of your own: hapax leaves that alone, and the
  // warning goes to it.
  Result<void> commit();
  void rollback();

 private:
  friend class PostgresSession;
  explicit PostgresTransaction(Session& session) : PostgresTx(session), open_(true) {}
  bool open_;
};

struct PostgresOptions {
  bool migrate = true;  // create or upgrade the schema hapax in the caller's database
  // The world, for tests. They must outlive the session; null is the real one, and the time the
  // server's.
  Clock* clock = nullptr;
  Random* random = nullptr;
};

// hapax on a connection that the caller opened and will close, directly or through pgbouncer. It
// keeps nothing on the server's side. Works at read committed, repeatable read and serializable; a
// serialization failure comes back as store_busy: roll back and run the whole transaction again. A
// call waits for another transaction that holds the same id, for as long as your lock_timeout says.
class HAPAX_API PostgresSession {
 public:
  // `connection` is open, idle and not in pipeline mode. Errors: handle_closed, invalid_argument,
  // store_newer, misconfigured (server too old, fsync off, no right to create the schema, or
  // migrate = false and none there), store_read_only, store_unavailable.
  // Attach again, outside a transaction, where a pooler keeps `connection` open while the server
  // restarts or fails over: until then enqueue may answer store_busy.
  static Result<PostgresSession> attach(pg_conn* connection, const PostgresOptions& options = {});

  PostgresSession(PostgresSession&&) noexcept;
  PostgresSession& operator=(PostgresSession&&) noexcept;
  ~PostgresSession();

  // Begins a transaction at the database's default isolation level. For another level begin it
  // yourself and join(). invalid_argument when one is in progress already.
  Result<PostgresTransaction> begin() &;
  // The transaction that the caller has begun. not_in_transaction when there is none.
  Result<PostgresTx> join() &;
  // What they return uses the session, which must outlive it.
  Result<PostgresTransaction> begin() && = delete;
  Result<PostgresTx> join() && = delete;

 private:
  explicit PostgresSession(std::unique_ptr<PostgresTx::Session> session);
  std::unique_ptr<PostgresTx::Session> session_;
};

}  // namespace hapax
