// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/world.hpp"

#include <hapax/sqlite.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

namespace hapax::test {

// The caller's own database: opened by the caller, with a table of the caller.
class CallersDatabase {
 public:
  explicit CallersDatabase(const std::string& file) {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
    db_.reset(raw);
    sqlite3_busy_timeout(raw, 20);
    run("PRAGMA journal_mode=WAL");
    run("CREATE TABLE IF NOT EXISTS work(id TEXT)");
  }

  sqlite3* get() const { return db_.get(); }

  int try_run(const std::string& sql) const {
    return sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  }
  void run(const std::string& sql) const {
    ASSERT_EQ(try_run(sql), SQLITE_OK) << sql << ": " << sqlite3_errmsg(db_.get());
  }

  // The first column of the first row.
  std::string text(const std::string& sql) const {
    std::string answer;
    const auto keep = [](void* out, int, char** values, char**) {
      if (values[0] != nullptr) *static_cast<std::string*>(out) = values[0];
      return 1;  // one row is enough
    };
    sqlite3_exec(db_.get(), sql.c_str(), keep, &answer, nullptr);
    return answer;
  }
  int count(const std::string& table) const {
    return std::atoi(text("SELECT count(*) FROM " + table).c_str());
  }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
};

// Work with a visible effect: it inserts a row.
inline Result<void> insert_work(sqlite3* db, const std::string& id) {
  const std::string sql = "INSERT INTO work VALUES('" + id + "')";
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return Error(Code::work_failed, sqlite3_errmsg(db));
}

}  // namespace hapax::test
