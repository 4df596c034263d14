// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/connection.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace hapax::store::sqlite {

// Moves the write-ahead log into the database on a thread of its own, so that no commit waits for
// it. While it works the writer goes on appending; what was appended meanwhile another pass moves,
// or the writer itself (finish_due), so that the log starts over instead of growing.
class Checkpointer {
 public:
  explicit Checkpointer(Handle db);
  ~Checkpointer();

  // Waits for the pass in progress; no other follows.
  void stop();

  // Asks for a pass. Called by the writer when the log has become long.
  void ask();

  // The writer's turn: a pass has ended. Asking clears it.
  bool finish_due() { return finish_due_.exchange(false); }
  // A pass failed on the disk: what it wrote cannot be trusted. Asking clears it.
  bool failed() { return failed_.exchange(false); }

  sqlite3* handle() { return db_.get(); }

 private:
  class Database;

  void work();

  Handle db_;
  std::unique_ptr<Database> database_;  // a part of db_
  std::mutex mutex_;
  std::condition_variable wake_;
  bool due_ = false;
  bool stopping_ = false;
  std::atomic<bool> finish_due_{false};
  std::atomic<bool> failed_{false};
  std::thread thread_;  // last: it uses all of the above
};

// Moves what it can without waiting for anybody. False when the disk failed.
bool checkpoint_passively(sqlite3* db);

}  // namespace hapax::store::sqlite
