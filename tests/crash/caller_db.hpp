// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/traces.hpp"

#include <hapax/sqlite.hpp>

#include <cstdint>
#include <memory>
#include <string>

// The caller of hapax::once in the crash tests: its tables, its work, and the traces of both.
namespace hapax::test {

struct CloseDb {
  void operator()(sqlite3* db) const;
};
using Db = std::unique_ptr<sqlite3, CloseDb>;

// Opens with SQLite's defaults. Returns null on failure.
Db open_db(const std::string& path);
// Returns SQLite's extended result code.
int run(sqlite3* db, const std::string& sql);
// Returns the single number selected by `sql`; -1 on failure or without a row.
std::int64_t number(sqlite3* db, const std::string& sql);
// Returns the single text selected by `sql`; empty on failure or without a row.
std::string text(sqlite3* db, const std::string& sql);
// Returns the result of PRAGMA integrity_check: "ok" for an intact file.
std::string integrity(sqlite3* db);

// Creates the caller's own tables if they do not exist.
int make_caller_tables(sqlite3* db);

// once() with work that inserts a row, counts it and enqueues a message, all named after `id`.
Result<Once> do_job(SqliteTx& tx, const std::string& id);

Traces traces_of(sqlite3* db, const std::string& id);
// Returns whether the counter equals the number of rows of work.
bool counter_agrees(sqlite3* db);

}  // namespace hapax::test
