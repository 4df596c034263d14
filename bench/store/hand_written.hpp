// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// SQLite as used by hand-written code, without layers between the statement and the loop. All
// functions throw std::runtime_error on an SQLite error.
namespace hapax::bench {

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// A prepared statement. Parameters are numbered from 1; bound bytes must outlive the next run() or
// reset().
class Query {
 public:
  Query() = default;
  Query(sqlite3* db, const char* sql);

  void bind(int place, std::string_view bytes);
  void bind(int place, std::int64_t number);
  // Runs a statement without rows and resets it. Returns the number of changed rows.
  int run();
  // Advances to the next row of a query; false after the last one. reset() prepares it for reuse.
  bool step();
  std::int64_t number(int column) const;
  std::string_view bytes(int column) const;  // until the next step
  void reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  sqlite3* db_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Opens a file with the flags and pragmas of hapax's own store: WAL, synchronous FULL, a cache of 8
// MB, no secure delete. There is one difference. hapax disables automatic checkpoints and
// checkpoints in a background thread from 4000 pages on; here wal_autocheckpoint=4000 makes the
// commit that exceeds the limit checkpoint. Both are passive checkpoints at the same size of the
// WAL.
Database open_database(const std::string& path);

void execute(sqlite3* db, const char* sql);

// The expiry of a claim made now, by the wall clock.
std::int64_t expiry_ms();

}  // namespace hapax::bench
