// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/files.hpp"

#include "store/sqlite/file/connection.hpp"
#include "support/world.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// Closing any descriptor of a file releases all POSIX locks of the process on that file, including
// those of SQLite. Without them another process would consider the database unused and remove its
// log.
namespace hapax::daemon {
namespace {

using std::chrono::seconds;

// Whether another process observes the shared lock that every open connection to a SQLite file in
// WAL mode holds: https://www.sqlite.org/src/doc/trunk/src/os.h
bool is_locked_for_others(const std::string& path) {
  constexpr off_t kSharedFirst = 0x40000002;
  constexpr off_t kSharedSize = 510;
  const pid_t child = fork();
  if (child == 0) {
    struct flock wanted {};
    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = kSharedFirst;
    wanted.l_len = kSharedSize;
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool asked = fd >= 0 && fcntl(fd, F_GETLK, &wanted) == 0;
    _exit(!asked ? 2 : wanted.l_type == F_UNLCK ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2) << status;
  return status == 0;
}

class FileLockTest : public testing::Test {
 protected:
  // Reads from the database: a connection holds its lock only from the first read on.
  store::sqlite::Handle open_database() const {
    store::sqlite::Handle db = store::sqlite::open_file(path_, seconds(5)).value();
    EXPECT_TRUE(store::sqlite::execute(db.get(), "SELECT count(*) FROM sqlite_schema", "test"));
    return db;
  }

  test::TempDir directory_;
  std::string path_ = directory_.file("hapax.db");
};

TEST_F(FileLockTest, AFailedLockKeepsTheLocksOfThisProcess) {
  const Result<FileLock> first = FileLock::take(path_);
  ASSERT_TRUE(first);
  const store::sqlite::Handle db = open_database();
  ASSERT_TRUE(is_locked_for_others(path_));
  const Result<FileLock> second = FileLock::take(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::misconfigured);
  EXPECT_TRUE(is_locked_for_others(path_));
}

// SQLite itself keeps descriptors open until the last connection of the process is closed.
TEST_F(FileLockTest, ClosingASecondConnectionKeepsTheLocks) {
  const store::sqlite::Handle db = open_database();
  open_database().reset();
  EXPECT_TRUE(is_locked_for_others(path_));
}

TEST_F(FileLockTest, TheDestructorReleasesTheLock) {
  EXPECT_TRUE(FileLock::take(path_));
  EXPECT_TRUE(FileLock::take(path_));
}

}  // namespace
}  // namespace hapax::daemon
