// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/sqlite.hpp>

#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "model/message.hpp"
#include "store/limits.hpp"
#include "store/sqlite/claims.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/statements.hpp"

#include <sqlite3.h>

#include <algorithm>

namespace hapax {

namespace sql = store::sqlite;

// What the session keeps on the caller's handle.
struct SqliteTx::Session {
  Session(sqlite3* handle, const SqliteOptions& options)
      : db(handle),
        own_clock(options.clock == nullptr ? make_system_clock() : nullptr),
        own_random(options.random == nullptr ? make_system_random() : nullptr),
        clock(options.clock != nullptr ? *options.clock : *own_clock),
        random(options.random != nullptr ? *options.random : *own_random) {}

  struct Statements {
    sql::Claims claims;
    sql::Statement savepoint;
    sql::Statement release;
    sql::Statement back;
    sql::Statement begin;
    sql::Statement commit;
    sql::Statement insert_message;
  };

  Result<void> prepare();
  Result<void> check_in_transaction() const;
  Result<void> run(sql::Statement Statements::*which, std::string_view doing);
  Result<void> insert(const MessageId& id, const Message& message, const std::string& headers,
                      std::int64_t now_ms);

  sqlite3* db;
  std::unique_ptr<Clock> own_clock;
  std::unique_ptr<Random> own_random;
  Clock& clock;
  Random& random;
  std::optional<Statements> statements;
};

namespace {

Error closed() {
  return Error(Code::handle_closed,
               "the sqlite3 handle is null or closed; attach to one that is open");
}

// SQLite answers misuse for a handle that is closed and still held by somebody's statement, as ours
// are held by the session.
bool is_open(sqlite3* db) {
  return db != nullptr && sqlite3_errcode(db) != SQLITE_MISUSE;
}

Error transaction_lost() {
  return Error(Code::not_in_transaction, Outcome::unknown,
               "the work ended the transaction that it ran in; let whoever began it end it");
}

Result<void> check_message(const Message& message, std::string_view encoded_headers) {
  HAPAX_TRY(store::check_length("a destination", message.destination, kMaxDestination));
  const auto at_most = [](std::string_view what, std::string_view bytes, std::size_t most) {
    return bytes.empty() ? Result<void>() : store::check_length(what, bytes, most);
  };
  HAPAX_TRY(at_most("a message key", message.key, kMaxId));
  HAPAX_TRY(at_most("an order key", message.order_key, kMaxId));
  HAPAX_TRY(at_most("a payload", message.payload, kMaxPayload));
  return at_most("a message's encoded headers", encoded_headers, kMaxHeaderBytes);
}

}  // namespace

Result<void> SqliteTx::Session::prepare() {
  HAPAX_TRY_ASSIGN(claims, sql::Claims::prepare(db, clock));
  HAPAX_TRY_ASSIGN(savepoint, sql::Statement::prepare(db, "SAVEPOINT hapax_once"));
  HAPAX_TRY_ASSIGN(release, sql::Statement::prepare(db, "RELEASE hapax_once"));
  HAPAX_TRY_ASSIGN(back, sql::Statement::prepare(db, "ROLLBACK TO hapax_once"));
  HAPAX_TRY_ASSIGN(begin, sql::Statement::prepare(db, "BEGIN IMMEDIATE"));
  HAPAX_TRY_ASSIGN(commit, sql::Statement::prepare(db, "COMMIT"));
  HAPAX_TRY_ASSIGN(insert_message, sql::Statement::prepare(db, sql::kInsertMessage));
  statements =
      Statements{std::move(claims), std::move(savepoint), std::move(release),       std::move(back),
                 std::move(begin),  std::move(commit),    std::move(insert_message)};
  return {};
}

Result<void> SqliteTx::Session::check_in_transaction() const {
  if (!is_open(db)) return closed();
  if (sql::in_transaction(db)) return {};
  return Error(Code::not_in_transaction,
               "the handle is in no transaction: it was never begun, was ended, or was rolled back "
               "by SQLite after an error; begin one first");
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

sqlite3* SqliteTx::handle() const {
  return session_->db;
}

Result<Tx::Entered> SqliteTx::enter(const OnceId& what) {
  HAPAX_TRY(session_->check_in_transaction());
  HAPAX_TRY(store::check_claim(what.scope, what.id, what.ttl));
  Entered entered;
  entered.key = claim_key(ClaimKind::id, what.scope, what.id);
  session_->random.fill(entered.token.bytes);

  HAPAX_TRY(session_->run(&Session::Statements::savepoint, "set a savepoint"));
  const Result<sql::Claimed> claimed = [&]() -> Result<sql::Claimed> {
    sql::Claims& claims = session_->statements->claims;
    HAPAX_TRY_ASSIGN(now_ms, claims.time().now_ms());
    return claims.claim({entered.key, entered.token, what.ttl}, now_ms);
  }();
  if (!claimed) {
    HAPAX_TRY(leave(entered));
    return claimed.error();
  }
  if (!claimed->fresh) {
    HAPAX_TRY(session_->run(&Session::Statements::release, "release the savepoint"));
    entered.duplicate = true;
    entered.result = claimed->result;
  }
  return entered;
}

Result<void> SqliteTx::keep(const Entered& entered, std::string_view result) {
  HAPAX_TRY(session_->check_in_transaction());
  if (!result.empty()) {
    HAPAX_TRY(session_->statements->claims.store_result(entered.key, entered.token, result));
  }
  return session_->run(&Session::Statements::release, "release the savepoint");
}

Result<void> SqliteTx::leave(const Entered& entered) {
  if (!is_open(session_->db)) return closed();
  if (!sql::in_transaction(session_->db)) {
    // After some errors SQLite rolls everything back by itself: then nothing is left to undo. If
    // our claim is there all the same, the work has committed it.
    HAPAX_TRY_ASSIGN(committed, session_->statements->claims.is_ours(entered.key, entered.token));
    return committed ? Result<void>(transaction_lost()) : Result<void>();
  }
  Result<void> undone = session_->run(&Session::Statements::back, "roll back to the savepoint");
  if (undone) {
    undone = session_->run(&Session::Statements::release, "release the savepoint");
  }
  if (undone) return {};
  sql::roll_back(session_->db);
  return transaction_lost();
}

Result<Enqueued> SqliteTx::enqueue(const Message& message) {
  HAPAX_TRY(session_->check_in_transaction());
  const std::string headers = encode_headers(message);
  HAPAX_TRY(check_message(message, headers));
  HAPAX_TRY_ASSIGN(now_ms, session_->statements->claims.time().now_ms());
  const MessageId id = make_message_id(session_->clock, session_->random);
  if (message.key.empty()) {
    HAPAX_TRY(session_->insert(id, message, headers, now_ms));
    return Enqueued{id, false};
  }
  return enqueue_once(id, message, headers, now_ms);
}

// The key's claim holds the message's id and digest; claim and row stand or fall together.
Result<Enqueued> SqliteTx::enqueue_once(const MessageId& id, const Message& message,
                                        const std::string& headers, std::int64_t now_ms) {
  Entered entered;
  entered.key = claim_key(ClaimKind::message, message.destination, message.key);
  entered.token = Token{id.bytes};
  const Digest digest = content_digest(message, headers);

  HAPAX_TRY(session_->run(&Session::Statements::savepoint, "set a savepoint"));
  const Result<sql::Claimed> claimed = session_->statements->claims.claim(
      {entered.key, entered.token, kDefaultTtl, view(digest)}, now_ms);
  Result<void> done = claimed ? Result<void>() : Result<void>(claimed.error());
  if (done && claimed->fresh) done = session_->insert(id, message, headers, now_ms);
  if (done) done = session_->run(&Session::Statements::release, "release the savepoint");
  if (!done) {
    HAPAX_TRY(leave(entered));
    return std::move(done).error();
  }
  if (claimed->fresh) return Enqueued{id, false};
  if (claimed->result == view(digest)) return Enqueued{MessageId{claimed->token.bytes}, true};
  return Error(Code::key_reused, "a message for " + std::string(message.destination) +
                                     " with this key and other content is there already; use "
                                     "another key for another message");
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : SqliteTx(other), open_(std::exchange(other.open_, false)) {}

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
  sql::roll_back(session_->db);
  if (done.error().code() == Code::store_busy) return done;
  return Error(Code::outcome_unknown,
               done.error().detail() +
                   "; whether it was committed is not known: open the handle "
                   "anew and call once() again, its answer is the truth");
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

Result<SqliteTransaction> SqliteSession::begin() {
  if (!is_open(session_->db)) return closed();
  if (sql::in_transaction(session_->db)) {
    return Error(Code::invalid_argument,
                 "the handle is in a transaction already; use join() to work inside it");
  }
  HAPAX_TRY(session_->run(&SqliteTx::Session::Statements::begin, "begin a transaction"));
  return SqliteTransaction(*session_);
}

Result<SqliteTx> SqliteSession::join() {
  HAPAX_TRY(session_->check_in_transaction());
  return SqliteTx(*session_);
}

}  // namespace hapax
