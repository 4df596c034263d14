// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/wal_buffer.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>

// Frames of the log that are put together before they are written: what others see, what a copy of
// the files holds, and what a transaction finds of its own.
namespace hapax::store::sqlite {

namespace {

struct CloseDb {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Db = std::unique_ptr<sqlite3, CloseDb>;

constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

std::int64_t ask(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  std::int64_t number = -1;
  if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number;
}

void run(sqlite3* db, const std::string& sql) {
  char* text = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &text), SQLITE_OK) << text;
  sqlite3_free(text);
}

class WalBufferTest : public testing::Test {
 protected:
  WalBufferTest() {
    sqlite3* raw = nullptr;
    EXPECT_EQ(buffer_.open(path_.c_str(), kFlags, &raw), SQLITE_OK);
    db_.reset(raw);
    run(db_.get(),
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
        "CREATE TABLE t(id INTEGER PRIMARY KEY, bytes BLOB)");
  }

  static Db open_plainly(const std::string& path) {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &raw, kFlags, nullptr), SQLITE_OK);
    return Db(raw);
  }

  // A kilobyte each.
  static std::string insert(int from, int to) {
    return "WITH RECURSIVE n(i) AS (VALUES(" + std::to_string(from) +
           ") UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(to) +
           ") INSERT INTO t SELECT i, randomblob(1000) FROM n";
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("t.db");
  WalBuffer buffer_;
  Db db_;
};

TEST_F(WalBufferTest, OthersSeeATransactionAsSoonAsItIsCommitted) {
  const Db other = open_plainly(path_);
  for (int i = 0; i < 20; ++i) {
    run(db_.get(), insert(1000 * i + 1, 1000 * i + (i % 2 == 0 ? 3 : 500)));
    EXPECT_EQ(ask(other.get(), "SELECT count(*) FROM t"), ask(db_.get(), "SELECT count(*) FROM t"));
  }
  EXPECT_EQ(
      ask(other.get(), "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
      1);
}

// What a crash of the process would leave.
TEST_F(WalBufferTest, ACopyOfTheFilesHoldsWhatWasCommitted) {
  run(db_.get(), insert(1, 700));
  run(db_.get(), "BEGIN; " + insert(1001, 1700));
  for (const char* end : {"", "-wal"}) {
    std::filesystem::copy_file(path_ + end, directory_.file("copy.db") + end);
  }
  run(db_.get(), "COMMIT");
  const Db copy = open_plainly(directory_.file("copy.db"));
  EXPECT_EQ(ask(copy.get(), "SELECT count(*) FROM t"), 700);
}

// With a cache of ten pages most of a transaction is in the log before it ends.
TEST_F(WalBufferTest, ATransactionFindsWhatItHasSpilled) {
  run(db_.get(), "PRAGMA cache_size=10; BEGIN; " + insert(1, 3000));
  EXPECT_EQ(ask(db_.get(), "SELECT count(*) FROM t WHERE length(bytes) = 1000"), 3000);
  run(db_.get(), "ROLLBACK");
  EXPECT_EQ(ask(db_.get(), "SELECT count(*) FROM t"), 0);
  run(db_.get(), insert(1, 3000));
  run(db_.get(), "DELETE FROM t WHERE id % 2 = 0; PRAGMA wal_checkpoint(TRUNCATE)");
  const Db other = open_plainly(path_);
  EXPECT_EQ(ask(other.get(), "SELECT count(*) FROM t"), 1500);
}

TEST_F(WalBufferTest, NothingStaysRegistered) {
  const sqlite3_vfs* before = sqlite3_vfs_find(nullptr);
  {
    WalBuffer another;
    sqlite3* raw = nullptr;
    ASSERT_EQ(another.open(directory_.file("u.db").c_str(), kFlags, &raw), SQLITE_OK);
    const Db db(raw);
    run(db.get(), "PRAGMA journal_mode=WAL; CREATE TABLE t(id)");
  }
  EXPECT_EQ(sqlite3_vfs_find(nullptr), before);
  run(db_.get(), insert(1, 10));
  EXPECT_EQ(ask(db_.get(), "SELECT count(*) FROM t"), 10);
}

TEST_F(WalBufferTest, AFileThatCannotBeOpenedIsSaid) {
  WalBuffer another;
  sqlite3* raw = nullptr;
  EXPECT_EQ(another.open("/no/such/place/t.db", kFlags, &raw), SQLITE_CANTOPEN);
  const Db db(raw);
}

}  // namespace

}  // namespace hapax::store::sqlite
