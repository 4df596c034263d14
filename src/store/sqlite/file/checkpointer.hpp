// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/background_thread.hpp"
#include "store/sqlite/file/connection.hpp"

#include <sqlite3.h>

#include <atomic>

namespace hapax::store::sqlite {

// Detects failed syncs of a handle's database file. After one, pages written before may be lost
// although the kernel considers them clean. Any other failure loses nothing: pages not checkpointed
// are still in the log. Must be destroyed before the handle is closed.
class WatchedDatabase {
 public:
  explicit WatchedDatabase(sqlite3* db);
  ~WatchedDatabase();
  WatchedDatabase(const WatchedDatabase&) = delete;
  WatchedDatabase& operator=(const WatchedDatabase&) = delete;

  // Also syncs while writing. A single sync at the end would keep the disk busy for so long that
  // commits wait.
  void sync_as_it_grows() { methods_.xWrite = write; }
  // SQLite itself syncs the database only once the whole log has been checkpointed.
  bool sync();

  // Reading clears it. Thread-safe.
  bool sync_failed() { return sync_failed_.exchange(false); }

 private:
  static constexpr int kUnsyncedMax = 1 << 20;

  static WatchedDatabase& of(sqlite3_file* file);
  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at);
  static int sync_file(sqlite3_file* file, int flags);

  sqlite3_io_methods methods_;  // first member: callbacks find the object through it
  const sqlite3_io_methods* real_ = nullptr;
  sqlite3_file* file_ = nullptr;
  int unsynced_ = 0;
  std::atomic<bool> sync_failed_{false};
};

// Checkpoints the write-ahead log on a background thread, so no commit waits. Pages appended
// meanwhile are checkpointed by another pass or by the writer (finish_due), so the log restarts
// instead of growing.
class Checkpointer {
 public:
  explicit Checkpointer(Handle db);

  // Waits for the pass in progress and starts no other.
  void stop() { thread_.stop(); }

  // Requests a pass. Called by the writer when the log has become long.
  void request_pass();

  // A pass has ended, and the writer must finish it. Reading clears the flag.
  bool finish_due() { return finish_due_.exchange(false); }
  // Whether a pass failed with a disk error, and whether a sync of the database failed. Reading
  // clears the flag.
  bool failed() { return failed_.exchange(false); }
  bool sync_failed() { return database_.sync_failed(); }

  sqlite3* handle() { return db_.get(); }

 private:
  std::chrono::milliseconds run_pass();

  Handle db_;
  WatchedDatabase database_;  // of db_
  std::atomic<bool> due_{false};
  std::atomic<bool> finish_due_{false};
  std::atomic<bool> failed_{false};
  BackgroundThread thread_;  // last: it uses all of the above
};

// A passive checkpoint, which waits for no other connection. False if the disk failed or is full.
bool checkpoint_passively(sqlite3* db);

}  // namespace hapax::store::sqlite
