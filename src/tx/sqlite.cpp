// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/sqlite.hpp>

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "env/world.hpp"
#include "model/message.hpp"
#include "store/limits.hpp"
#include "store/sqlite/claims/claims.hpp"
#include "store/sqlite/claims/statements.hpp"
#include "store/sqlite/file/connection.hpp"
#include "store/sqlite/file/savepoint.hpp"
#include "store/sqlite/file/schema.hpp"
#include "tx/errors.hpp"

#include <sqlite3.h>

#include <algorithm>

namespace hapax {

namespace sql = store::sqlite;

// Session state on the caller's handle.
struct SqliteTx::Session {
  Session(sqlite3* handle, const SqliteOptions& options)
      : db(handle), world(options.clock, options.random) {}

  struct Statements {
    sql::ClaimTable claims;
    // Different names, so that a message inside once() never ends once's own savepoint.
    sql::Savepoint once;
    sql::Savepoint message;
    sql::Statement begin;
    sql::Statement commit;
    sql::Statement take_write_lock;
    sql::Statement insert_message;
  };

  Result<void> prepare();
  Result<void> check_in_transaction() const;
  Result<void> run(sql::Statement Statements::*which, std::string_view doing);
  Result<void> insert(const MessageId& id, const Message& message, const std::string& headers,
                      std::int64_t now_ms);
  Result<bool> undo(sql::Savepoint& savepoint, const std::string& key, const Token& token);
  Result<std::int64_t> start_writing();
  Error failed(const Error& cause) const;

  sqlite3* db;
  World world;
  std::optional<Statements> statements;
};

namespace {

Error closed() {
  return Error(Code::handle_closed,
               "the sqlite3 handle is null or closed; attach to one that is open");
}

// SQLite returns SQLITE_MISUSE for a closed handle that unfinalized statements keep alive, as the
// session's statements do. The last error alone is no proof: it may come from another misuse by the
// caller.
bool is_open(sqlite3* db) {
  if (db == nullptr) return false;
  return sqlite3_errcode(db) != SQLITE_MISUSE ||
         sqlite3_exec(db, "", nullptr, nullptr, nullptr) != SQLITE_MISUSE;
}

}  // namespace

Result<void> SqliteTx::Session::prepare() {
  HAPAX_TRY_ASSIGN(claims, sql::ClaimTable::prepare(db, world.clock));
  HAPAX_TRY_ASSIGN(once, sql::Savepoint::prepare(db, "hapax_once"));
  HAPAX_TRY_ASSIGN(message, sql::Savepoint::prepare(db, "hapax_message"));
  HAPAX_TRY_ASSIGN(begin, sql::Statement::prepare(db, "BEGIN IMMEDIATE"));
  HAPAX_TRY_ASSIGN(commit, sql::Statement::prepare(db, "COMMIT"));
  HAPAX_TRY_ASSIGN(take_write_lock, sql::Statement::prepare(db, sql::kTakeWriteLock));
  HAPAX_TRY_ASSIGN(insert_message, sql::Statement::prepare(db, sql::kInsertMessage));
  statements.emplace(Statements{std::move(claims), std::move(once), std::move(message),
                                std::move(begin), std::move(commit), std::move(take_write_lock),
                                std::move(insert_message)});
  return {};
}

Result<void> SqliteTx::Session::check_in_transaction() const {
  if (!is_open(db)) return closed();
  if (sql::in_transaction(db)) return {};
  return Error(Code::not_in_transaction,
               "no transaction is in progress on the handle: it was never begun, was ended, or was "
               "rolled back by SQLite after an error; begin one first");
}

Result<void> SqliteTx::Session::run(sql::Statement Statements::*which, std::string_view doing) {
  HAPAX_TRY(sql::Run((*statements).*which).step(doing));
  return {};
}

Result<void> SqliteTx::Session::insert(const MessageId& id, const Message& message,
                                       const std::string& headers, std::int64_t now_ms) {
  sql::Run row(statements->insert_message);
  row.bind({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  row.bind_text(message.destination);
  message.key.empty() ? row.bind_null() : row.bind(message.key);
  message.order_key.empty() ? row.bind_null() : row.bind(message.order_key);
  row.bind(headers).bind(message.payload).bind(now_ms);
  HAPAX_TRY(row.change("enqueue a message"));
  return {};
}

// After some errors SQLite rolls back the whole transaction by itself: then nothing is left to
// undo. If the claim exists anyway, the work has committed it.
Result<bool> SqliteTx::Session::undo(sql::Savepoint& savepoint, const std::string& key,
                                     const Token& token) {
  if (savepoint.undo()) return sql::in_transaction(db);
  const Result<bool> committed = statements->claims.is_ours(key, token);
  if (!committed || *committed) return transaction_lost();
  return false;
}

// The store time, for the write that follows. The caller's transaction may be a deferred one that
// has done nothing yet: if it began by reading the time, SQLite could reject the following write at
// once, without waiting for another writer.
Result<std::int64_t> SqliteTx::Session::start_writing() {
  if (sqlite3_txn_state(db, "main") == SQLITE_TXN_NONE) {
    HAPAX_TRY(run(&Statements::take_write_lock, "take the write lock"));
  }
  return statements->claims.time().now_ms();
}

// SQLite may have rolled back the whole transaction with the failed statement.
Error SqliteTx::Session::failed(const Error& cause) const {
  return sql::in_transaction(db) ? cause : transaction_over(cause);
}

sqlite3* SqliteTx::handle() const {
  return session_->db;
}

Result<Tx::Entered> SqliteTx::enter(const OnceId& what) {
  HAPAX_TRY(session_->check_in_transaction());
  HAPAX_TRY(store::check_claim(what.scope, what.id, what.ttl));
  Entered entered;
  entered.key = claim_key(ClaimKind::id, what.scope, what.id);
  session_->world.random.fill(entered.token.bytes);

  Session::Statements& all = *session_->statements;
  if (Result<void> set = all.once.set(); !set) return session_->failed(set.error());
  const Result<sql::Claimed> claimed = [&]() -> Result<sql::Claimed> {
    HAPAX_TRY_ASSIGN(now_ms, session_->start_writing());
    HAPAX_TRY_ASSIGN(stands, all.claims.claim({entered.key, entered.token, what.ttl}, now_ms));
    if (!stands.fresh) HAPAX_TRY(all.once.release());
    return stands;
  }();
  if (!claimed) {
    HAPAX_TRY_ASSIGN(goes_on, leave(entered));
    return goes_on ? claimed.error() : transaction_over(claimed.error());
  }
  entered.duplicate = !claimed->fresh;
  if (entered.duplicate) entered.result = claimed->result;
  return entered;
}

Result<void> SqliteTx::keep(const Entered& entered, std::string_view result) {
  HAPAX_TRY(session_->check_in_transaction());
  if (!result.empty()) {
    HAPAX_TRY(session_->statements->claims.store_result(entered.key, entered.token, result));
  }
  return session_->statements->once.release();
}

Result<bool> SqliteTx::leave(const Entered& entered) {
  if (!is_open(session_->db)) return closed();
  return session_->undo(session_->statements->once, entered.key, entered.token);
}

Result<Enqueued> SqliteTx::enqueue(const Message& message) {
  HAPAX_TRY(session_->check_in_transaction());
  const std::string headers = encode_headers(message);
  HAPAX_TRY(store::check_message(message));
  const Result<std::int64_t> now_ms = session_->start_writing();
  if (!now_ms) return session_->failed(now_ms.error());
  const MessageId id = make_message_id(session_->world.clock, session_->world.random);
  if (!message.key.empty()) return enqueue_once(id, message, headers, *now_ms);
  const Result<void> inserted = session_->insert(id, message, headers, *now_ms);
  if (!inserted) return session_->failed(inserted.error());
  return Enqueued{id, false};
}

// The key's claim holds the message's id and digest; claim and row are written together or not at
// all.
Result<Enqueued> SqliteTx::enqueue_once(const MessageId& id, const Message& message,
                                        const std::string& headers, std::int64_t now_ms) {
  const std::string key = claim_key(ClaimKind::message, message.destination, message.key);
  const Token token{id.bytes};
  const Digest digest = content_digest(message, headers);

  if (Result<void> set = session_->statements->message.set(); !set) {
    return session_->failed(set.error());
  }
  const Result<sql::Claimed> claimed =
      session_->statements->claims.claim({key, token, kDefaultTtl, view(digest)}, now_ms);
  Result<void> done = claimed ? Result<void>() : Result<void>(claimed.error());
  if (done && claimed->fresh) done = session_->insert(id, message, headers, now_ms);
  if (done) done = session_->statements->message.release();
  if (!done) {
    HAPAX_TRY_ASSIGN(goes_on, session_->undo(session_->statements->message, key, token));
    return goes_on ? std::move(done).error() : transaction_over(done.error());
  }
  if (claimed->fresh) return Enqueued{id, false};
  if (claimed->result == view(digest)) return Enqueued{MessageId{claimed->token.bytes}, true};
  return key_reused(message);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : SqliteTx(std::move(other)), open_(std::exchange(other.open_, false)) {}

SqliteTransaction& SqliteTransaction::operator=(SqliteTransaction&& other) noexcept {
  if (this == &other) return *this;
  rollback();
  session_ = other.session_;
  open_ = std::exchange(other.open_, false);
  return *this;
}

SqliteTransaction::~SqliteTransaction() {
  rollback();
}

Result<void> SqliteTransaction::commit() {
  if (!std::exchange(open_, false)) {
    return Error(Code::not_in_transaction, "this transaction has ended; begin another");
  }
  HAPAX_TRY(session_->check_in_transaction());
  Result<void> done = session_->run(&Session::Statements::commit, "commit");
  if (done) return done;
  // A COMMIT that fails with SQLITE_BUSY, an early interrupt or a deferred constraint leaves the
  // transaction open.
  const bool refused = sql::in_transaction(session_->db);
  sql::roll_back(session_->db);
  if (refused) return done;
  return Error(Code::outcome_unknown, done.error().detail() +
                                          "; the outcome is unknown: reopen the handle and call "
                                          "once() again; its answer is authoritative");
}

void SqliteTransaction::rollback() {
  if (std::exchange(open_, false) && is_open(session_->db)) sql::roll_back(session_->db);
}

SqliteSession::SqliteSession(std::unique_ptr<SqliteTx::Session> session)
    : session_(std::move(session)) {}
SqliteSession::SqliteSession(SqliteSession&&) noexcept = default;
SqliteSession& SqliteSession::operator=(SqliteSession&&) noexcept = default;
SqliteSession::~SqliteSession() = default;

Result<SqliteSession> SqliteSession::attach(sqlite3* db, const SqliteOptions& options) {
  if (!is_open(db)) return closed();
  if (options.migrate) {
    HAPAX_TRY(sql::migrate(db));
  } else {
    HAPAX_TRY(sql::check_schema(db));
  }
  auto session = std::make_unique<SqliteTx::Session>(db, options);
  HAPAX_TRY(session->prepare());
  return SqliteSession(std::move(session));
}

Result<SqliteTransaction> SqliteSession::begin() & {
  if (!is_open(session_->db)) return closed();
  if (sql::in_transaction(session_->db)) {
    return Error(Code::invalid_argument,
                 "the handle is already in a transaction; use join() to work inside it");
  }
  Result<void> begun = session_->run(&SqliteTx::Session::Statements::begin, "begin a transaction");
  if (begun) return SqliteTransaction(*session_);
  sql::roll_back(session_->db);  // an interrupted BEGIN may have taken effect
  return std::move(begun).error();
}

Result<SqliteTx> SqliteSession::join() & {
  HAPAX_TRY(session_->check_in_transaction());
  return SqliteTx(*session_);
}

}  // namespace hapax
