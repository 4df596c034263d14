// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/postgres.hpp>

#include "base/claim_key.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"
#include "env/world.hpp"
#include "model/message.hpp"
#include "store/claims.hpp"
#include "store/limits.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/executor.hpp"
#include "store/postgres/message.hpp"
#include "store/postgres/notices.hpp"
#include "store/postgres/schema.hpp"
#include "store/postgres/statements.hpp"
#include "tx/errors.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

namespace hapax {

namespace pg = store::postgres;

// Session state; nothing of it is kept on the server.
struct PostgresTx::Session {
  Session(PGconn* handle, const PostgresOptions& options)
      : connection(handle), world(options.clock, options.random) {}

  Result<void> check_alive() const;
  Result<void> check_open() const;
  Result<void> check_in_transaction() const;
  void roll_back();
  // NULL in production: the server's clock is used.
  std::optional<std::int64_t> moment_us() const {
    if (world.own_clock) return std::nullopt;
    return world.clock.wall().time_since_epoch().count();
  }

  pg::CallersConnection connection;
  World world;
  // A failed call may have reached another server than attach() did: begin() checks the epoch.
  bool is_epoch_in_doubt = false;
};

namespace {

PGTransactionStatusType status_of(const pg::CallersConnection& connection) {
  return PQtransactionStatus(connection.handle());
}

bool is_transaction(PGTransactionStatusType status) {
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

// A bytea as an SQL literal. Only hexadecimal digits are put between the quotes.
std::string literal(std::string_view bytes) {
  return "pg_catalog.decode('" + to_hex(bytes) + "', 'hex')";
}

std::string literal(std::optional<std::int64_t> us_since_1970) {
  if (!us_since_1970) return "NULL";
  return "(pg_catalog.timestamptz 'epoch' OPERATOR(pg_catalog.+) (" +
         std::to_string(*us_since_1970) + " OPERATOR(pg_catalog.*) interval '1 microsecond'))";
}

// Savepoint and claim in one round trip.
std::string enter_sql(std::string_view key, const Token& token, std::chrono::milliseconds ttl,
                      std::optional<std::int64_t> moment_us) {
  return "SAVEPOINT hapax_once; SELECT fresh, pg_catalog.encode(result, 'hex') FROM hapax._once(" +
         literal(key) + ", " + literal(store::view(token)) + ", " + std::to_string(ttl.count()) +
         ", " + literal(moment_us) + ")";
}

}  // namespace

Result<void> PostgresTx::Session::check_alive() const {
  PGconn* handle = connection.handle();
  if (handle == nullptr || PQstatus(handle) != CONNECTION_OK) {
    return Error(Code::handle_closed,
                 "the PGconn is null or its connection is closed; attach to one that is open");
  }
  if (PQpipelineStatus(handle) == PQ_PIPELINE_OFF) return {};
  return Error(Code::invalid_argument, "the PGconn is in pipeline mode; leave pipeline mode first");
}

Result<void> PostgresTx::Session::check_open() const {
  HAPAX_TRY(check_alive());
  if (status_of(connection) != PQTRANS_ACTIVE) return {};
  return Error(Code::invalid_argument,
               "the PGconn is busy with another command; read its results first");
}

Result<void> PostgresTx::Session::check_in_transaction() const {
  HAPAX_TRY(check_open());
  if (status_of(connection) == PQTRANS_INTRANS) return {};
  return Error(Code::not_in_transaction,
               status_of(connection) == PQTRANS_INERROR
                   ? "a statement of this transaction has failed; roll it back and begin a new one"
                   : "no transaction is in progress on the connection; begin one first");
}

// A command in progress is drained first, by libpq.
void PostgresTx::Session::roll_back() {
  if (!check_alive() || status_of(connection) == PQTRANS_IDLE) return;
  static_cast<void>(connection.run("ROLLBACK", "roll back").has_value());
}

pg_conn* PostgresTx::handle() const {
  return session_->connection.handle();
}

Result<Tx::Entered> PostgresTx::enter(const OnceId& what) {
  HAPAX_TRY(session_->check_in_transaction());
  HAPAX_TRY(store::check_claim(what.scope, what.id, what.ttl));
  Entered entered;
  entered.key = claim_key(ClaimKind::id, what.scope, what.id);
  session_->world.random.fill(entered.token.bytes);

  const std::string sql = enter_sql(entered.key, entered.token, what.ttl, session_->moment_us());
  const Result<pg::QueryResult> answer = session_->connection.run(sql.c_str(), "claim an id");
  if (!answer) {
    HAPAX_TRY_ASSIGN(goes_on, leave(entered));
    return goes_on ? answer.error() : transaction_over(answer.error());
  }
  entered.duplicate = answer->field(0, 0) == "f";
  if (entered.duplicate) {
    HAPAX_TRY(session_->connection.run("RELEASE SAVEPOINT hapax_once", "release the savepoint"));
    entered.result = from_hex(answer->field(0, 1)).value_or(std::string());
  }
  return entered;
}

Result<void> PostgresTx::keep(const Entered& entered, std::string_view result) {
  HAPAX_TRY(session_->check_open());
  if (status_of(session_->connection) == PQTRANS_INERROR) {
    return Error(
        Code::work_failed,
        "the work returned success although a statement of it had failed; return its error");
  }
  HAPAX_TRY(session_->check_in_transaction());
  std::string sql;
  if (!result.empty()) {
    sql = "SELECT hapax._keep(" + literal(entered.key) + ", " +
          literal(store::view(entered.token)) + ", " + literal(result) + "); ";
  }
  sql += "RELEASE SAVEPOINT hapax_once";
  HAPAX_TRY(session_->connection.run(sql.c_str(), "keep the claim"));
  return {};
}

Result<bool> PostgresTx::leave(const Entered& entered) {
  // A broken connection has ended the transaction.
  if (PQstatus(handle()) != CONNECTION_OK) return false;
  HAPAX_TRY(session_->check_alive());
  pg::CallersConnection& connection = session_->connection;
  if (status_of(connection) != PQTRANS_IDLE) {
    const Result<pg::QueryResult> undone =
        connection.run("ROLLBACK TO SAVEPOINT hapax_once; RELEASE SAVEPOINT hapax_once",
                       "roll back to the savepoint");
    if (undone) return true;
    if (PQstatus(handle()) != CONNECTION_OK) return false;
    static_cast<void>(connection.run("ROLLBACK", "roll back").has_value());
  }
  // If our claim exists anyway, the work has committed it.
  const std::string sql = "SELECT 1 FROM hapax.claim WHERE key OPERATOR(pg_catalog.=) " +
                          literal(entered.key) + " AND token OPERATOR(pg_catalog.=) " +
                          literal(store::view(entered.token));
  const Result<pg::QueryResult> found = connection.run(sql.c_str(), "look for the claim");
  if (!found || found->rows() > 0) return transaction_lost();
  return false;
}

Result<Enqueued> PostgresTx::enqueue(const Message& message) {
  HAPAX_TRY(session_->check_in_transaction());
  HAPAX_TRY(store::check_message(message));
  const MessageId id = make_message_id(session_->world.clock, session_->world.random);
  pg::Parameters parameters;
  pg::add_message(parameters, id, message);
  parameters.add_time(session_->moment_us());
  const Result<pg::QueryResult> ran =
      session_->connection.run(pg::kEnqueue, parameters, "enqueue a message");
  if (!ran) {
    if (ran.error().code() == Code::store_busy) session_->is_epoch_in_doubt = true;
    return ran.error();
  }
  const pg::QueryResult& answer = *ran;
  if (answer.field(0, 2) == "t") return key_reused(message);
  Enqueued enqueued{.message = {}, .duplicate = answer.field(0, 1) == "t"};
  const std::string stored = from_hex(answer.field(0, 0)).value_or(std::string());
  std::copy_n(stored.begin(), std::min(stored.size(), id.bytes.size()),
              enqueued.message.bytes.begin());
  return enqueued;
}

PostgresTransaction::PostgresTransaction(PostgresTransaction&& other) noexcept
    : PostgresTx(std::move(other)), open_(std::exchange(other.open_, false)) {}

PostgresTransaction& PostgresTransaction::operator=(PostgresTransaction&& other) noexcept {
  if (this == &other) return *this;
  rollback();
  session_ = other.session_;
  open_ = std::exchange(other.open_, false);
  return *this;
}

PostgresTransaction::~PostgresTransaction() {
  rollback();
}

Result<void> PostgresTransaction::commit() {
  if (!std::exchange(open_, false)) {
    return Error(Code::not_in_transaction, "this transaction has ended; begin another");
  }
  HAPAX_TRY(session_->check_alive());
  if (const Result<void> idle = session_->check_open(); !idle) {
    session_->roll_back();
    return idle.error();
  }
  if (status_of(session_->connection) == PQTRANS_IDLE) HAPAX_TRY(session_->check_in_transaction());
  const pg::StandbyWatch watch(handle());
  const Result<pg::QueryResult> done = session_->connection.run("COMMIT", "commit");
  // PostgreSQL answers a COMMIT of a failed transaction with success and rolls back.
  if (done && done->command() == "COMMIT" && !watch.not_replicated()) return {};
  if (done && done->command() != "COMMIT") {
    return Error(Code::not_in_transaction,
                 "a statement of this transaction had failed, so PostgreSQL rolled it back");
  }
  const bool still_open =
      PQstatus(handle()) == CONNECTION_OK && is_transaction(status_of(session_->connection));
  session_->roll_back();
  // The server rejected the COMMIT; otherwise its outcome is unknown.
  const bool refused = !done && done.error().code() != Code::store_unavailable;
  if (refused || still_open) return done.error();
  const std::string why =
      done ? "the wait for the synchronous standby was cancelled" : done.error().detail();
  return Error(
      Code::outcome_unknown,
      why +
          "; the outcome is unknown: reconnect and call once() again; its answer is authoritative");
}

void PostgresTransaction::rollback() {
  if (std::exchange(open_, false)) session_->roll_back();
}

PostgresSession::PostgresSession(std::unique_ptr<PostgresTx::Session> session)
    : session_(std::move(session)) {}
PostgresSession::PostgresSession(PostgresSession&&) noexcept = default;
PostgresSession& PostgresSession::operator=(PostgresSession&&) noexcept = default;
PostgresSession::~PostgresSession() = default;

Result<PostgresSession> PostgresSession::attach(pg_conn* connection,
                                                const PostgresOptions& options) {
  auto session = std::make_unique<PostgresTx::Session>(connection, options);
  HAPAX_TRY(session->check_open());
  HAPAX_TRY(pg::refuse_old_server(PQserverVersion(connection)));
  HAPAX_TRY_ASSIGN(settings, session->connection.run(pg::kAskSettings, "read the settings"));
  HAPAX_TRY(pg::check_settings(settings));
  if (options.migrate && !is_transaction(status_of(session->connection))) {
    HAPAX_TRY(pg::migrate(session->connection));
  } else {
    HAPAX_TRY(pg::check_schema(session->connection));
  }
  // Not inside a caller's transaction: there enqueue() only compares. See hapax._check_epoch.
  if (!is_transaction(status_of(session->connection))) {
    const Result<pg::QueryResult> compared =
        session->connection.run(pg::kCheckEpoch, "compare the epoch of message numbers");
    if (!compared && !pg::is_passing(compared.error())) return compared.error();
  }
  return PostgresSession(std::move(session));
}

Result<PostgresTransaction> PostgresSession::begin() & {
  HAPAX_TRY(session_->check_open());
  if (is_transaction(status_of(session_->connection))) {
    return Error(Code::invalid_argument,
                 "the connection is already in a transaction; use join() to work inside it");
  }
  if (session_->is_epoch_in_doubt) {
    const Result<pg::QueryResult> compared =
        session_->connection.run(pg::kCheckEpoch, "compare the epoch of message numbers");
    if (!compared) return compared.error();
    session_->is_epoch_in_doubt = false;
  }
  const Result<pg::QueryResult> begun = session_->connection.run("BEGIN", "begin a transaction");
  if (begun) return PostgresTransaction(*session_);
  session_->roll_back();  // it may have begun
  return begun.error();
}

Result<PostgresTx> PostgresSession::join() & {
  HAPAX_TRY(session_->check_in_transaction());
  return PostgresTx(*session_);
}

}  // namespace hapax
