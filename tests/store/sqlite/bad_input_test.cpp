// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/sqlite.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace hapax {
namespace {

using test::CallersDatabase;
using test::TempDir;

// Expects the error to have the code and to name the file and the remedy.
void expect_error(const Error& error, Code code, const std::string& file, const char* remedy) {
  EXPECT_EQ(error.code(), code) << error.to_string();
  EXPECT_EQ(error.outcome(), Outcome::did_not_happen);
  EXPECT_NE(error.detail().find(file), std::string::npos) << error.detail();
  EXPECT_NE(error.detail().find(remedy), std::string::npos) << error.detail();
}

void expect_open_error(const std::string& file, Code code, const char* remedy) {
  const Result<Store> store =
      open("sqlite:" + file, {.busy_timeout = std::chrono::milliseconds(20)});
  ASSERT_FALSE(store) << file << " was opened";
  expect_error(store.error(), code, file, remedy);
}

TEST(SqliteBadInput, AMissingDirectoryIsNamed) {
  const TempDir directory;
  expect_open_error(directory.file("no/such/store.db"), Code::misconfigured, "create it first");
}

TEST(SqliteBadInput, ADirectoryIsRefused) {
  const TempDir directory;
  expect_open_error(directory.path().string(), Code::misconfigured, "name a file in it");
}

TEST(SqliteBadInput, AFileThatIsNoDatabaseIsUnchanged) {
  const TempDir directory;
  const std::string file = directory.file("notes.txt");
  const std::string text(5000, 'n');
  std::ofstream(file) << text;
  expect_open_error(file, Code::store_corrupt, "not an SQLite database");
  std::string after(5000, ' ');
  std::ifstream(file).read(after.data(), 5000);
  EXPECT_EQ(after, text);
}

TEST(SqliteBadInput, ADamagedPageIsReportedNotTrusted) {
  const TempDir directory;
  const std::string file = directory.file("store.db");
  { ASSERT_TRUE(open("sqlite:" + file)->dedup({.scope = "s", .id = "a"})); }
  {
    std::fstream damage(file, std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(4096);
    const std::string garbage(std::filesystem::file_size(file) - 4096, '\xa5');
    damage << garbage;
  }
  const Result<Store> store = open("sqlite:" + file);
  if (!store) return expect_error(store.error(), Code::store_corrupt, file, "backup");
  const Result<Dedup> answer = const_cast<Store&>(*store).dedup({.scope = "s", .id = "a"});
  ASSERT_FALSE(answer);
  expect_error(answer.error(), Code::store_corrupt, file, "backup");
}

// Root can write everything, so the test temporarily switches to the user nobody.
class AsNobody {
 public:
  AsNobody() : root_(geteuid() == 0) { change(65534); }
  ~AsNobody() { change(0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  void change(uid_t user) {
    if (root_ && seteuid(user) != 0) ADD_FAILURE() << "cannot change the user";
  }
  bool root_;
};

TEST(SqliteBadInput, AReadOnlyFileIsRefusedAtOpen) {
  const TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  const std::string file = directory.file("store.db");
  { ASSERT_TRUE(open("sqlite:" + file)); }
  ASSERT_EQ(chmod(file.c_str(), 0444), 0);
  const AsNobody nobody;
  expect_open_error(file, Code::store_read_only, "make the file and its directory writable");
}

TEST(SqliteBadInput, AnUnwritableDirectoryIsRefused) {
  const TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0555), 0);
  const AsNobody nobody;
  expect_open_error(directory.file("store.db"), Code::store_unavailable, "permissions");
}

TEST(SqliteBadInput, AFileLockedByAnotherWriterIsBusyAndNothingHappens) {
  const TempDir directory;
  const std::string file = directory.file("store.db");
  Store store = open("sqlite:" + file, {.busy_timeout = std::chrono::milliseconds(20)}).value();
  const CallersDatabase other(file);
  other.run("BEGIN IMMEDIATE");
  const Result<Dedup> refused = store.dedup({.scope = "s", .id = "a"});
  ASSERT_FALSE(refused);
  expect_error(refused.error(), Code::store_busy, file, "run the transaction again");
  EXPECT_TRUE(refused.error().retryable());
  other.run("COMMIT");
  EXPECT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST(SqliteBadInput, AFileLockedByAnotherProcessIsBusyAtOpen) {
  const TempDir directory;
  const std::string file = directory.file("store.db");
  const CallersDatabase other(file);
  other.run("PRAGMA journal_mode=DELETE");
  other.run("BEGIN EXCLUSIVE");
  expect_open_error(file, Code::store_busy, "another connection is writing");
}

// While this object exists, every new connection has a limited number of pages.
class SmallDisk {
 public:
  SmallDisk() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&limit)); }
  ~SmallDisk() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&limit)); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  static int limit(sqlite3* db, char**, const void*) {
    return sqlite3_exec(db, "PRAGMA max_page_count=40", nullptr, nullptr, nullptr);
  }
};

TEST(SqliteBadInput, AFullDiskIsAnErrorAndLeavesNoPartialWrite) {
  const TempDir directory;
  const std::string file = directory.file("store.db");
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(std::to_string(i) + std::string(150, 'x'));
  std::size_t fitted = 0;
  {
    const SmallDisk small;
    Store store = open("sqlite:" + file).value();
    for (; fitted < 1000; ++fitted) {
      std::vector<DedupRequest> requests;
      const std::string scope = "s" + std::to_string(fitted);
      for (const std::string& id : ids) requests.push_back({.scope = scope, .id = id});
      const Result<std::vector<Dedup>> answers = store.dedup(requests);
      if (answers) continue;
      expect_error(answers.error(), Code::store_full, file, "free some disk space");
      break;
    }
  }
  ASSERT_GT(fitted, 0U);
  ASSERT_LT(fitted, 1000U);
  Store store = open("sqlite:" + file).value();
  const std::string last = "s" + std::to_string(fitted - 1);
  const std::string refused = "s" + std::to_string(fitted);
  for (const std::string& id : ids) {
    EXPECT_TRUE(store.dedup({.scope = last, .id = id})->duplicate);
    EXPECT_FALSE(store.dedup({.scope = refused, .id = id})->duplicate);
  }
}

TEST(SqliteBadInput, APathThatLooksLikeAUriIsAPath) {
  const TempDir directory;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  EXPECT_TRUE(open("sqlite:file:odd.db?mode=memory"));
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(directory.file("file:odd.db?mode=memory")));
}

}  // namespace
}  // namespace hapax
