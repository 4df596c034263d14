// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hapax::store::sqlite {

// SQLite's answer as an Error that names the file, the cause and the remedy. `doing` reads after
// "cannot": "open the store", "claim an id".
Error error_of(sqlite3* db, int code, std::string_view doing);

// A prepared statement. Finalised with the object.
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

// A statement that is prepared when it is first run: a program that only deduplicates does not pay
// for the inbox. `sql` must outlive it.
class Lazy {
 public:
  Lazy(sqlite3* db, std::string_view sql) : db_(db), sql_(sql) {}

 private:
  friend class Run;
  int prepare();  // a code of SQLite's

  sqlite3* db_;
  std::string_view sql_;
  std::optional<Statement> statement_;
};

// One execution of a statement: bind in order, step, read. The statement is reset when this goes,
// because one left in the middle would pin a snapshot. Bound bytes must outlive the Run.
class Run {
 public:
  explicit Run(Statement& statement);
  explicit Run(Lazy& statement);  // one that cannot be prepared is an error of step()
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Run& bind(std::string_view bytes);  // as a blob; empty is an empty blob, not NULL
  Run& bind(std::int64_t number);
  Run& bind_text(std::string_view text);
  Run& bind_null();
  Run& bind_maybe(std::optional<std::int64_t> number);

  // true: a row is there to read. `doing` is for the error.
  Result<bool> step(std::string_view doing);
  // For a statement that gives no row: how many rows it changed.
  Result<std::int64_t> change(std::string_view doing);

  std::string_view bytes(int column) const;  // valid until the next step; NULL reads as empty
  std::int64_t number(int column) const;
  std::optional<std::int64_t> maybe(int column) const;  // NULL: nothing

 private:
  void note(int code);

  sqlite3* db_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int failure_ = 0;  // of preparing or binding, reported by step()
};

// Runs SQL that gives no rows and has no parameters.
Result<void> execute(sqlite3* db, const char* sql, std::string_view doing);

// True between BEGIN and COMMIT or ROLLBACK, also of SQLite's own rollback after an error.
bool in_transaction(sqlite3* db);

// Rolls back what is in progress, if anything is. False when SQLite refuses even that.
bool roll_back(sqlite3* db);

// Closing this handle as the last one leaves the log as it is, instead of moving and removing it.
void keep_log_on_close(sqlite3* db);

struct Close {
  void operator()(sqlite3* db) const;
};
using Handle = std::unique_ptr<sqlite3, Close>;

// Opens the file at `path` for reading and writing, creating it when it is not there, as every
// handle of the store must be: WAL, synchronous FULL, no automatic checkpoint, `busy_timeout`.
// Sharing::none: exclusive access, and SQLite rebuilds its index of the log.
enum class Sharing { all, none };
Result<Handle> open_file(const std::string& path, std::chrono::milliseconds busy_timeout,
                         Sharing sharing = Sharing::all);

}  // namespace hapax::store::sqlite
