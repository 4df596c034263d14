// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "store/sqlite/file/schema.hpp"
#include "store/sqlite/file/writer.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <limits>
#include <string>

// A writer that had to close all its handles finds the write-ahead log removed when it reopens the
// file.
namespace hapax::store::sqlite {
namespace {

constexpr std::chrono::seconds kPatience{60};

// SQLite's default VFS, limited to a number of database opens.
class FewOpenings {
 public:
  FewOpenings() {
    static_cast<sqlite3_vfs&>(vfs_) = *vfs_.real;
    vfs_.zName = "hapax-few-openings";
    vfs_.xOpen = open;
    EXPECT_EQ(sqlite3_vfs_register(&vfs_, 1), SQLITE_OK);
  }
  ~FewOpenings() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(vfs_.real, 1);
  }
  FewOpenings(const FewOpenings&) = delete;
  FewOpenings& operator=(const FewOpenings&) = delete;

  void allow(int count) { vfs_.left = count; }

 private:
  struct Vfs : sqlite3_vfs {
    sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
    int left = std::numeric_limits<int>::max();
  };

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
    auto& self = *static_cast<Vfs*>(vfs);
    const bool is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    if (is_database && --self.left < 0) {
      file->pMethods = nullptr;
      return SQLITE_CANTOPEN;
    }
    return self.real->xOpen(self.real, path, file, flags, out);
  }

  Vfs vfs_{};
};

class LostLog : public testing::Test {
 protected:
  LostLog() {
    const Handle db = open_file(path_, kPatience).value();
    EXPECT_TRUE(migrate(db.get()));
    EXPECT_TRUE(execute(db.get(), "CREATE TABLE t(id INTEGER PRIMARY KEY)", "test"));
  }

  static Result<void> insert(Writer& writer) {
    return writer.transact(
        [](Writer& into) { return execute(into.handle(), "INSERT INTO t VALUES(NULL)", "test"); });
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("w.db");
  test::ManualClock clock_;
  test::CrashVfs vfs_;
  FewOpenings openings_;
};

// The last connection to close checkpoints the log and removes it, which is legitimate.
TEST_F(LostLog, RemovedWhileNoHandleWasOpenIsNotTakenForReplaced) {
  Writer writer = Writer::open({path_, kPatience}, clock_).value();
  ASSERT_TRUE(insert(writer));
  // The next transaction checkpoints the log on two new handles, and the sync of the database
  // fails. The writer closes them and then cannot open another.
  const auto failing_disk = [](Writer&) -> Result<void> {
    return Error(Code::store_unavailable, "the disk");
  };
  EXPECT_FALSE(writer.transact(failing_disk));
  vfs_.fail({.op = test::CrashVfs::Op::sync, .where = test::CrashVfs::Where::database});
  openings_.allow(2);
  EXPECT_FALSE(insert(writer));
  EXPECT_TRUE(vfs_.reached_database());
  openings_.allow(10);
  open_file(path_, kPatience).value().reset();
  ASSERT_FALSE(std::filesystem::exists(path_ + "-wal"));
  const Result<void> after = insert(writer);
  EXPECT_TRUE(after) << after.error().to_string();
}

}  // namespace
}  // namespace hapax::store::sqlite
