// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/schema.hpp"
#include "store/sqlite/file/writer.hpp"
#include "support/sql_process.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <string>

// The store's write handle while another process writes to the same file. Pages that a rolled back
// transaction had spilled to the log are invalid: they must not reach the log later, when another
// process has used that space.
namespace hapax::store::sqlite {
namespace {

class SecondProcess : public testing::Test {
 protected:
  // Starts with an empty log, so that no read finds page 1 in it by chance. The other process's
  // commits stay in the log.
  void SetUp() override {
    ASSERT_TRUE(migrate(open_file(path_, kPatience).value().get()));
    other_.run("PRAGMA wal_autocheckpoint=0");
    other_.run("CREATE TABLE mine(id INTEGER PRIMARY KEY, bytes BLOB)");
    other_.run("CREATE TABLE theirs(id INTEGER PRIMARY KEY, bytes BLOB)");
    writer_.emplace(Writer::open({path_, kPatience}, clock_).value());
    EXPECT_EQ(other_.run("PRAGMA wal_checkpoint(TRUNCATE)"), "0");
  }

  static Result<void> exec(Writer& writer, const std::string& sql) {
    return execute(writer.handle(), sql.c_str(), "test");
  }
  // Writes more than the page cache holds; `end` decides the outcome.
  Result<void> write_a_lot(const std::function<Result<void>()>& end) {
    return writer_->transact([&](Writer& writer) -> Result<void> {
      const Result<void> done = exec(writer, insert("mine", 12'000));
      EXPECT_TRUE(done) << done.error().to_string();
      return end();
    });
  }
  // Rows of 1 KiB.
  static std::string insert(const std::string& table, int rows) {
    return "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < " +
           std::to_string(rows) + ") INSERT INTO " + table +
           "(bytes) SELECT randomblob(1000) FROM n";
  }
  std::string rows_of(const std::string& table) {
    return other_.run("SELECT count(*) FROM " + table);
  }
  // Returns the rows after a crash of both processes.
  std::string rows_after_crash(const std::string& table) {
    for (const char* end : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + end, directory_.file("copy.db") + end);
    }
    test::SqlProcess copy(HAPAX_SQL_PROCESS, directory_.file("copy.db"));
    return copy.run("SELECT count(*) FROM " + table);
  }

  static constexpr std::chrono::seconds kPatience{60};
  test::TempDir directory_;
  std::string path_ = directory_.file("app.db");
  test::ManualClock clock_;
  test::SqlProcess other_{HAPAX_SQL_PROCESS, path_};
  std::optional<Writer> writer_;
};

Result<void> refuse() {
  return Error(Code::work_failed, "no");
}

TEST_F(SecondProcess, ARollbackDoesNotOverwriteAnotherProcesssCommit) {
  EXPECT_FALSE(write_a_lot(refuse));
  EXPECT_EQ(other_.run(insert("theirs", 10'000)), "");
  ASSERT_TRUE(writer_->transact([](Writer& writer) { return exec(writer, insert("mine", 10)); }));
  EXPECT_EQ(other_.run("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(rows_of("theirs"), "10000");
  EXPECT_EQ(rows_of("mine"), "10");
  EXPECT_EQ(rows_after_crash("theirs"), "10000");
}

TEST_F(SecondProcess, RolledBackRowsAreNotWrittenOnClose) {
  EXPECT_FALSE(write_a_lot(refuse));
  EXPECT_EQ(other_.run(insert("theirs", 10'000)), "");
  writer_.reset();
  EXPECT_EQ(other_.run("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(rows_of("theirs"), "10000");
  EXPECT_EQ(rows_after_crash("theirs"), "10000");
}

TEST_F(SecondProcess, ALargeTransactionIsVisibleAsAWhole) {
  ASSERT_TRUE(write_a_lot([] { return Result<void>(); }));
  EXPECT_EQ(rows_of("mine"), "12000");
  EXPECT_EQ(rows_after_crash("mine"), "12000");
}

}  // namespace
}  // namespace hapax::store::sqlite
