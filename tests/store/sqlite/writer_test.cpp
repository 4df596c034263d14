// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/writer.hpp"

#include "store/sqlite/file/schema.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <stdexcept>

// The write handle: the state after a failed transaction, and files that were replaced or removed.
namespace hapax::store::sqlite {
namespace {

using std::chrono::seconds;

class WriterTest : public testing::Test {
 protected:
  WriterTest() {
    make(path_);
    writer_.emplace(Writer::open({path_, seconds(5)}, clock_).value());
  }

  static void make(const std::string& path) {
    const Handle db = open_file(path, seconds(5)).value();
    EXPECT_TRUE(migrate(db.get()));
    EXPECT_TRUE(execute(db.get(), "CREATE TABLE t(id INTEGER PRIMARY KEY)", "test"));
  }
  static Result<void> exec(Writer& writer, const char* sql) {
    return execute(writer.handle(), sql, "test");
  }
  Result<void> insert() {
    return writer_->transact(
        [](Writer& writer) { return exec(writer, "INSERT INTO t VALUES(NULL)"); });
  }
  Result<void> read() {
    return writer_->reader().read([](Reader::View&) { return Result<void>(); });
  }
  static std::int64_t rows_of(const std::string& path) {
    const Handle db = open_file(path, seconds(5)).value();
    Statement query = Statement::prepare(db.get(), "SELECT count(*) FROM t").value();
    sqlite::Run row(query);
    EXPECT_TRUE(row.step("count").value());
    return row.number(0);
  }
  // Replaces the file with a backup while it is open.
  void restore_backup() {
    make(directory_.file("backup.db"));
    std::filesystem::rename(directory_.file("backup.db"), path_);
  }
  void expect_refused(const Result<void>& answer, Code code) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), code) << answer.error().to_string();
    EXPECT_NE(answer.error().detail().find("replaced or removed"), std::string::npos)
        << answer.error().to_string();
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("w.db");
  test::ManualClock clock_;
  std::optional<Writer> writer_;
};

TEST_F(WriterTest, WorkThatThrowsLeavesNoTransactionBehind) {
  const auto throws = [](Writer& writer) -> Result<void> {
    EXPECT_TRUE(exec(writer, "INSERT INTO t VALUES(NULL)"));
    throw std::runtime_error("no memory");
  };
  EXPECT_THROW(static_cast<void>(writer_->transact(throws)), std::runtime_error);
  const Handle other = open_file(path_, seconds(0)).value();
  const Result<void> begun = execute(other.get(), "BEGIN IMMEDIATE; ROLLBACK", "test");
  EXPECT_TRUE(begun) << begun.error().to_string();
  EXPECT_TRUE(insert());
  EXPECT_EQ(rows_of(path_), 1);
}

TEST_F(WriterTest, AReplacedFileAcceptsNoMoreCommits) {
  ASSERT_TRUE(insert());
  restore_backup();
  expect_refused(insert(), Code::store_unavailable);
}

// A commit that exists only in the old file is not acknowledged.
TEST_F(WriterTest, AFileReplacedDuringATransactionIsDetectedBeforeTheAnswer) {
  const auto replaced_at_the_end = [&](Writer& writer) -> Result<void> {
    const Result<void> done = exec(writer, "INSERT INTO t VALUES(NULL)");
    restore_backup();
    return done;
  };
  expect_refused(writer_->transact(replaced_at_the_end), Code::outcome_unknown);
  expect_refused(insert(), Code::store_unavailable);
}

// The directory is temporarily a symbolic link to itself, so that its contents cannot be read.
TEST_F(WriterTest, AFailedFileCheckAfterACommitDoesNotFailTheCommit) {
  const std::filesystem::path place = directory_.path() / "place";
  const std::filesystem::path away = directory_.path() / "away";
  std::filesystem::create_directory(place);
  make((place / "w.db").string());
  Writer writer = Writer::open({(place / "w.db").string(), seconds(5)}, clock_).value();
  int runs = 0;
  const auto insert_one = [&](Writer& into) {
    ++runs;
    return exec(into, "INSERT INTO t VALUES(NULL)");
  };
  const Result<void> done = writer.transact([&](Writer& into) {
    std::filesystem::rename(place, away);
    std::filesystem::create_directory_symlink(place, place);
    return insert_one(into);
  });
  EXPECT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(runs, 1);
  const Result<void> unseen = writer.transact(insert_one);
  ASSERT_FALSE(unseen) << "nothing is committed to a file that cannot be checked";
  EXPECT_NE(unseen.error().detail().find("cannot stat"), std::string::npos)
      << unseen.error().to_string();
  std::filesystem::remove(place);
  std::filesystem::rename(away, place);
  EXPECT_TRUE(writer.transact(insert_one)) << "it is the same file";
  EXPECT_EQ(rows_of((place / "w.db").string()), 2);
}

TEST_F(WriterTest, ARemovedLogStopsFurtherCommits) {
  ASSERT_TRUE(insert());
  std::filesystem::remove(path_ + "-wal");
  expect_refused(insert(), Code::store_unavailable);
}

TEST_F(WriterTest, ARemovedFileIsNotRecreated) {
  std::filesystem::remove(path_);
  expect_refused(insert(), Code::store_unavailable);
  expect_refused(read(), Code::store_unavailable);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Readers see the file that is written, or none.
TEST_F(WriterTest, AReaderRefusesAReplacedFile) {
  restore_backup();
  expect_refused(read(), Code::store_unavailable);
}

// The state in memory belongs to the file that was opened first.
TEST_F(WriterTest, AFileReplacedOnceIsRefusedUntilTheNextStart) {
  std::filesystem::rename(path_, directory_.file("away.db"));
  expect_refused(insert(), Code::store_unavailable);
  std::filesystem::rename(directory_.file("away.db"), path_);
  expect_refused(insert(), Code::store_unavailable);
}

}  // namespace
}  // namespace hapax::store::sqlite
