// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/acknowledged.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <string>

// A power cut at the N-th file change, for every N until a run completes. Everything acknowledged
// must exist after the next boot, whichever unsynced sectors survived, and a job must be complete
// or absent.
namespace hapax::test {
namespace {

constexpr std::int64_t kPowerCutsMax = 5000;  // a longer run is a failure

// A store and a caller's own handle on a new file.
void run_store_and_caller(World& world, const std::string& path, Acknowledged& acknowledged) {
  Result<Store> store = open("sqlite:" + path, world.options());
  if (!store) return;
  claim(*store, {"one"}, acknowledged);
  do_jobs(world, path, {kJobNames[0], kJobNames[1]}, acknowledged);
  claim(*store, {"two", "three", "four", "five"}, acknowledged);
  do_jobs(world, path, {kJobNames[2], kJobNames[3]}, acknowledged);
  claim(*store, {"six"}, acknowledged);
}

// A caller alone, with a rollback journal.
void run_caller(World& world, const std::string& path, Acknowledged& acknowledged) {
  do_jobs(world, path, {kJobNames[0], kJobNames[1]}, acknowledged);
  do_jobs(world, path, {kJobNames[2], kJobNames[3]}, acknowledged);
}

void crash_everywhere(const Program& program) {
  const int torn = rounds(30);
  for (std::int64_t nth = 1; nth <= kPowerCutsMax; ++nth) {
    const bool reached = crash_once(nth, torn, program);
    if (testing::Test::HasFailure()) return;
    if (reached) continue;
    testing::Test::RecordProperty("steps", static_cast<int>(nth - 1));
    return;
  }
  FAIL() << "the run does not end";
}

TEST(PowerCut, LosesNothingAcknowledgedByAStoreOrACallerWithAWal) {
  crash_everywhere(run_store_and_caller);
}

TEST(PowerCut, LosesNothingAcknowledgedByACallerWithAJournal) {
  crash_everywhere(run_caller);
}

std::string after(const FileShadow& file, Fate fate, std::uint64_t seed = 0) {
  SeededRandom chance(seed);
  return file.after_power_cut(fate, chance).value_or("no file");
}

TEST(FileShadow, LosesOnlyUnsyncedWrites) {
  FileShadow file;
  file.write(0, "synced");
  EXPECT_EQ(after(file, Fate::drop_all), "no file");
  file.sync();
  file.truncate(3);
  file.write(3, "!");
  EXPECT_EQ(after(file, Fate::drop_all), "synced");
  EXPECT_EQ(after(file, Fate::keep_all), "syn!");
}

TEST(FileShadow, NeverRestoresDataLostByAFailedSync) {
  FileShadow file("old");
  file.write(0, "new");
  file.forget();
  file.write(3, "er");
  file.sync();
  EXPECT_EQ(after(file, Fate::keep_all), "older");
}

TEST(FileShadow, TearsAWriteAtSectorsBySeed) {
  FileShadow file(std::string(2048, 'a'));
  file.write(100, std::string(1900, 'b'));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string torn = after(file, Fate::tear, seed);
    EXPECT_EQ(torn, after(file, Fate::tear, seed));
    EXPECT_EQ(torn.substr(512, 512), std::string(512, torn[512]));
    seen.insert(torn);
  }
  EXPECT_EQ(seen.size(), 16U) << "four sectors, each kept or dropped";
}

// Returns how many rows of a commit acknowledged by SQLite survive a power cut.
std::int64_t rows_after_cut(const std::string& set_up, Fate fate) {
  const TempDir dir;
  {
    CrashVfs vfs;
    const Db db = open_db(dir.file("app.db"));
    EXPECT_EQ(run(db.get(), "CREATE TABLE t(x)"), SQLITE_OK);
    EXPECT_EQ(run(db.get(), set_up), SQLITE_OK);
    EXPECT_EQ(run(db.get(), "INSERT INTO t VALUES(1)"), SQLITE_OK);
    vfs.crash_at(1);
    vfs.materialize(dir.path() / "after", fate, 1);
  }
  const Db db = open_db((dir.path() / "after" / "app.db").string());
  return number(db.get(), "SELECT count(*) FROM t");
}

TEST(CrashVfs, LosesAnUnsyncedCommit) {
  EXPECT_EQ(rows_after_cut("PRAGMA synchronous=OFF", Fate::drop_all), 0);
  EXPECT_EQ(rows_after_cut("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", Fate::drop_all), 0);
  EXPECT_EQ(rows_after_cut("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", Fate::drop_all),
            0);
}

TEST(CrashVfs, KeepsASyncedCommit) {
  EXPECT_EQ(rows_after_cut("PRAGMA synchronous=FULL", Fate::drop_all), 1);
  EXPECT_EQ(rows_after_cut("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", Fate::drop_all), 1);
  EXPECT_EQ(rows_after_cut("PRAGMA synchronous=OFF", Fate::keep_all), 1);
}

TEST(CrashVfs, ChangesNoFileAfterTheCrash) {
  const TempDir dir;
  CrashVfs vfs;
  const std::string path = dir.file("app.db");
  {
    const Db db = open_db(path);
    EXPECT_EQ(run(db.get(), "PRAGMA journal_mode=WAL; CREATE TABLE t(x)"), SQLITE_OK);
    vfs.crash_at(1);
    EXPECT_NE(run(db.get(), "INSERT INTO t VALUES(1)"), SQLITE_OK);
    EXPECT_FALSE(open_db(path) && run(open_db(path).get(), "SELECT 1") == SQLITE_OK);
  }
  EXPECT_TRUE(vfs.reached());
  EXPECT_EQ(vfs.operations(), 0);
  EXPECT_TRUE(std::filesystem::exists(path + "-wal")) << "closing must not have removed the log";
}

TEST(CrashVfs, RestoresSqlitesDefaultVfs) {
  const sqlite3_vfs* before = sqlite3_vfs_find(nullptr);
  {
    const CrashVfs vfs;
    EXPECT_NE(sqlite3_vfs_find(nullptr), before);
  }
  EXPECT_EQ(sqlite3_vfs_find(nullptr), before);
}

}  // namespace
}  // namespace hapax::test
