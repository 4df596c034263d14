// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/sqlite.hpp>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

// The program that uses hapax::once in the crash tests: its tables, its work, and what of both is
// there afterwards.
namespace hapax::test {

struct CloseDb {
  void operator()(sqlite3* db) const;
};
using Db = std::unique_ptr<sqlite3, CloseDb>;

// With SQLite's own defaults. Null when it cannot be opened.
Db open_db(const std::string& path);
// SQLite's extended answer.
int run(sqlite3* db, const std::string& sql);
// The one number that `sql` asks for; -1 when it fails or gives no row.
std::int64_t number(sqlite3* db, const std::string& sql);
// The one text that `sql` asks for; empty when it fails or gives no row.
std::string text(sqlite3* db, const std::string& sql);
// What PRAGMA integrity_check says: "ok" when nothing is wrong.
std::string integrity(sqlite3* db);

// The caller's own tables, where they are not there yet.
int make_caller_tables(sqlite3* db);

inline constexpr std::string_view kJobs = "jobs";  // the scope of all of its ids

// once() with work that inserts a row, counts it and enqueues a message, all named after `id`.
Result<Once> do_job(SqliteTx& tx, const std::string& id);

// What is in the database of one id. Each is 0 or 1 if all is well, and all are the same.
struct Traces {
  std::int64_t claims = 0;
  std::int64_t rows = 0;
  std::int64_t messages = 0;

  friend bool operator==(const Traces&, const Traces&) = default;
};
inline constexpr Traces kNothing{};
inline constexpr Traces kAll{.claims = 1, .rows = 1, .messages = 1};

Traces traces_of(sqlite3* db, const std::string& id);
// The counter says how often work was done and kept.
bool counter_agrees(sqlite3* db);

std::ostream& operator<<(std::ostream& out, const Traces& traces);

}  // namespace hapax::test
