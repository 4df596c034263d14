// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/traces.hpp"

#include <hapax/sqlite.hpp>

#include <cstdint>
#include <memory>
#include <string>

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

// once() with work that inserts a row, counts it and enqueues a message, all named after `id`.
Result<Once> do_job(SqliteTx& tx, const std::string& id);

Traces traces_of(sqlite3* db, const std::string& id);
// The counter says how often work was done and kept.
bool counter_agrees(sqlite3* db);

}  // namespace hapax::test
