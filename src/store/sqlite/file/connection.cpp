// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/connection.hpp"

#include "base/check.hpp"
#include "base/try.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>

namespace hapax::store::sqlite {

namespace {

struct Meaning {
  Code code;
  std::string_view remedy;
};

Meaning meaning_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::store_busy,
              "another connection is writing; run the transaction again, or raise busy_timeout"};
    case SQLITE_FULL:
      return {Code::store_full, "free some disk space, or raise max_page_count"};
    case SQLITE_READONLY:
      return {Code::store_read_only,
              "make the file and its directory writable for this user, or choose another path"};
    case SQLITE_CORRUPT:
      return {Code::store_corrupt,
              "restore it from a backup, or run .recover of the sqlite3 shell"};
    case SQLITE_NOTADB:
      return {Code::store_corrupt, "it is not an SQLite database; check the path"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Code::store_unavailable, "check that the path and its permissions are right"};
    case SQLITE_MISUSE:
      return {Code::handle_closed, "the handle is closed; open it again"};
    case SQLITE_CONSTRAINT:
      return {Code::work_failed, "a constraint of the database was violated"};
    case SQLITE_TOOBIG:
      return {Code::invalid_argument, "it is longer than this handle's SQLITE_LIMIT_LENGTH"};
    case SQLITE_INTERRUPT:
      return {Code::store_busy, "it was interrupted; run the transaction again"};
    case SQLITE_IOERR:
      return {Code::store_unavailable, "check the disk and the system log"};
    default:
      return {Code::store_unavailable, "see SQLite's message"};
  }
}

std::string file_of(sqlite3* db) {
  const char* name = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
  return name != nullptr && *name != '\0' ? name : "the database";
}

std::string message_of(sqlite3* db, int code) {
  // The handle's own message is more specific, but it may be about another call.
  if (db != nullptr && (sqlite3_errcode(db) & 0xff) == (code & 0xff)) return sqlite3_errmsg(db);
  return sqlite3_errstr(code);
}

Error error_in(const std::string& file, int code, const std::string& message,
               std::string_view doing) {
  const Meaning meaning = meaning_of(code);
  std::string detail = "cannot ";
  detail += doing;
  if (meaning.code != Code::handle_closed) detail += " in " + file + ": " + message;
  detail += "; ";
  detail += meaning.remedy;
  return Error(meaning.code, std::move(detail));
}

// SQLite would parse a path that starts with "file:" as a URI; the user meant a path.
std::string literal_path(const std::string& path) {
  return path.starts_with("file:") ? "./" + path : path;
}

Result<void> check_place(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, failure)) {
    return Error(Code::misconfigured, path + " is a directory; name a file in it");
  }
  const std::filesystem::path directory = file.parent_path();
  if (!directory.empty() && !std::filesystem::is_directory(directory, failure)) {
    return Error(Code::misconfigured, "cannot open " + path + ": the directory " +
                                          directory.string() + " does not exist; create it first");
  }
  return {};
}

// If two processes turn on WAL at the same time, one of them gets SQLITE_BUSY, and SQLite does not
// call the busy handler there.
Result<void> turn_on_wal(sqlite3* db, std::chrono::milliseconds patience) {
  constexpr int kPauseMs = 5;
  HAPAX_TRY_ASSIGN(pragma, Statement::prepare(db, "PRAGMA journal_mode=WAL"));
  for (auto left = patience.count() / kPauseMs;; --left) {
    Run run(pragma);
    Result<bool> row = run.step("turn on the write-ahead log");
    if (row && run.bytes(0) == "wal") return {};
    if (row) {
      return Error(Code::misconfigured, file_of(db) +
                                            " cannot use a write-ahead log here; put it "
                                            "on a local disk");
    }
    if (row.error().code() != Code::store_busy || left <= 0) return std::move(row).error();
    sqlite3_sleep(kPauseMs);
  }
}

Result<void> configure(sqlite3* db, std::chrono::milliseconds busy_timeout, Sharing sharing) {
  sqlite3_busy_timeout(db, static_cast<int>(busy_timeout.count()));
  if (sharing == Sharing::none) {
    HAPAX_TRY(execute(db, "PRAGMA locking_mode=EXCLUSIVE", "set up the connection"));
  }
  HAPAX_TRY(turn_on_wal(db, busy_timeout));
  // The cache is small on purpose: SQLite walks its whole page cache at every commit.
  return execute(db,
                 "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8000;"
                 "PRAGMA secure_delete=OFF; PRAGMA foreign_keys=OFF",
                 "set up the connection");
}

}  // namespace

Error error_of(sqlite3* db, int code, std::string_view doing) {
  return error_in(file_of(db), code, message_of(db, code), doing);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<Statement> Statement::prepare(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(db, code, "prepare a statement");
  return Statement(statement);
}

int Lazy::prepare() {
  if (statement_) return SQLITE_OK;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_, sql_.data(), static_cast<int>(sql_.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code == SQLITE_OK) statement_ = Statement(statement);
  return code;
}

Run::Run(Statement& statement)
    : db_(sqlite3_db_handle(statement.statement_.get())), statement_(statement.statement_.get()) {}

Run::Run(Lazy& statement) : db_(statement.db_), statement_(nullptr) {
  failure_ = statement.prepare();
  if (failure_ == SQLITE_OK) statement_ = statement.statement_->statement_.get();
}

Run::~Run() {
  sqlite3_reset(statement_);
}

Run& Run::bind(std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  note(sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_STATIC));
  return *this;
}

Run& Run::bind(std::int64_t number) {
  note(sqlite3_bind_int64(statement_, ++bound_, number));
  return *this;
}

Run& Run::bind_text(std::string_view text) {
  const char* data = text.data() != nullptr ? text.data() : "";
  note(sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Run& Run::bind_null() {
  note(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Run& Run::bind_maybe(std::optional<std::int64_t> number) {
  return number ? bind(*number) : bind_null();
}

// Binding can fail: the caller's handle may have limits of its own.
void Run::note(int code) {
  if (failure_ == SQLITE_OK) failure_ = code;
}

Result<bool> Run::step(std::string_view doing) {
  const int code = failure_ == SQLITE_OK ? sqlite3_step(statement_) : failure_;
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(db_, code, doing);
}

Result<std::int64_t> Run::change(std::string_view doing) {
  for (;;) {  // PRAGMA count_changes returns a row
    HAPAX_TRY_ASSIGN(row, step(doing));
    if (!row) break;
  }
  return sqlite3_changes64(db_);
}

std::string_view Run::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

std::int64_t Run::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Run::maybe(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return number(column);
}

Result<void> execute(sqlite3* db, const char* sql, std::string_view doing) {
  const int code = sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(db, code, doing);
  return {};
}

bool in_transaction(sqlite3* db) {
  return sqlite3_get_autocommit(db) == 0;
}

bool roll_back(sqlite3* db) {
  return !in_transaction(db) ||
         sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
}

void keep_log_on_close(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

Result<Handle> open_file(const std::string& path, std::chrono::milliseconds busy_timeout,
                         Sharing sharing) {
  HAPAX_TRY(check_place(path));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                         SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(literal_path(path).c_str(), &raw, kFlags, nullptr);
  Handle db(raw);
  if (code != SQLITE_OK) return error_in(path, code, sqlite3_errstr(code), "open the store");
  if (sqlite3_db_readonly(raw, "main") == 1) {
    return error_of(raw, SQLITE_READONLY, "write to the store");
  }
  HAPAX_TRY(configure(raw, busy_timeout, sharing));
  return db;
}

}  // namespace hapax::store::sqlite
