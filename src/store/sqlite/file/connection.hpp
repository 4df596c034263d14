// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hapax::store::sqlite {

// Converts an SQLite error code to an Error that names the file, the cause and a remedy. `doing`
// completes "cannot ...": "open the store", "claim an id".
Error error_of(sqlite3* db, int code, std::string_view doing);

// A prepared statement. Finalized by the destructor.
class Statement {
 public:
  static Result<Statement> prepare(sqlite3* db, std::string_view sql);

 private:
  friend class Run;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  friend class Lazy;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A statement that is prepared on first use, so that a program that only deduplicates does not pay
// for the inbox. `sql` must outlive it.
class Lazy {
 public:
  Lazy(sqlite3* db, std::string_view sql) : db_(db), sql_(sql) {}

 private:
  friend class Run;
  int prepare();  // returns an SQLite result code

  sqlite3* db_;
  std::string_view sql_;
  std::optional<Statement> statement_;
};

// One execution of a statement: bind in order, step, read. The destructor resets the statement,
// because one left in the middle would pin a snapshot. Bound bytes must outlive the Run.
class Run {
 public:
  explicit Run(Statement& statement);
  explicit Run(Lazy& statement);  // step() reports a failure to prepare
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Run& bind(std::string_view bytes);  // as a blob; empty is an empty blob, not NULL
  Run& bind(std::int64_t number);
  Run& bind_text(std::string_view text);
  Run& bind_null();
  Run& bind_maybe(std::optional<std::int64_t> number);

  // True: a row is available. `doing` is for the error.
  Result<bool> step(std::string_view doing);
  // For a statement without result rows: how many rows it changed.
  Result<std::int64_t> change(std::string_view doing);

  std::string_view bytes(int column) const;  // valid until the next step; NULL reads as empty
  std::int64_t number(int column) const;
  std::optional<std::int64_t> maybe(int column) const;  // nullopt for NULL

 private:
  void note(int code);

  sqlite3* db_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int failure_ = 0;  // of preparing or binding, reported by step()
};

// Runs SQL without parameters and without result rows.
Result<void> execute(sqlite3* db, const char* sql, std::string_view doing);

// True between BEGIN and COMMIT or ROLLBACK, including SQLite's own rollback after an error.
bool in_transaction(sqlite3* db);

// Rolls back the transaction in progress, if there is one. False if SQLite rejects the ROLLBACK.
bool roll_back(sqlite3* db);

// If this handle is the last to close, the log is left in place instead of checkpointed and
// removed.
void keep_log_on_close(sqlite3* db);

struct Close {
  void operator()(sqlite3* db) const;
};
using Handle = std::unique_ptr<sqlite3, Close>;

// Opens the file at `path` for reading and writing, creating it if it does not exist, with the
// settings of every store handle: WAL, synchronous FULL, no automatic checkpoint, `busy_timeout`.
// Sharing::none: exclusive access, and SQLite rebuilds its WAL index.
enum class Sharing { all, none };
Result<Handle> open_file(const std::string& path, std::chrono::milliseconds busy_timeout,
                         Sharing sharing = Sharing::all);

}  // namespace hapax::store::sqlite
