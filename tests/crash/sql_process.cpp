// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <sqlite3.h>

#include <cstdio>
#include <iostream>
#include <string>

// A separate program with a connection to a SQLite file. Runs each line of its input as SQL and
// answers with one line: the first column of the last row, or SQLite's error. See
// support/sql_process.hpp.

namespace {

int keep_first(void* out, int columns, char** values, char**) {
  if (columns > 0) *static_cast<std::string*>(out) = values[0] != nullptr ? values[0] : "null";
  return 0;
}

}  // namespace

int main(int, char** words) {
  sqlite3* db = nullptr;
  if (sqlite3_open(words[1], &db) != SQLITE_OK) return 1;
  sqlite3_busy_timeout(db, 60'000);
  for (std::string sql; std::getline(std::cin, sql);) {
    std::string answer;
    const int code = sqlite3_exec(db, sql.c_str(), keep_first, &answer, nullptr);
    std::cout << (code == SQLITE_OK ? answer : std::string("error: ") + sqlite3_errmsg(db))
              << std::endl;
  }
  return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
