// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// SQLite as one would use it by hand, with nothing between the statement and the loop. Everything
// throws std::runtime_error when SQLite says no.
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
  // Runs one that gives no row and makes it ready for the next time. How many rows it changed.
  int run();
  // The next row of one that does, until there is none; then reset() makes it ready again.
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

// A file with the flags and pragmas of hapax's own store: WAL, synchronous FULL, a cache of 8 MB,
// no secure delete. One differs. hapax turns automatic checkpoints off and moves the log on a
// thread of its own from 4000 pages on; by hand one writes wal_autocheckpoint=4000 and lets the
// commit that crosses the line do it. Both are passive checkpoints at the same length of the log.
Database open_database(const std::string& path);

void execute(sqlite3* db, const char* sql);

// When a claim made now is over, by the wall clock.
std::int64_t expiry_ms();

}  // namespace hapax::bench
