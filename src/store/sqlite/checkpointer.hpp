// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/connection.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hapax::store::sqlite {

// Moves the write-ahead log into the database on a thread of its own, so that no commit waits for
// it. While it works the writer goes on appending; what was appended meanwhile the writer moves
// itself (finish_due), so that the log starts over instead of growing.
class Checkpointer {
 public:
  explicit Checkpointer(Handle db);
  ~Checkpointer();

  // Called by the writer with the length of the log, after a commit.
  void note_log(int pages);

  // The writer's turn: a pass has ended and left a rest. Asking clears it.
  bool finish_due() { return finish_due_.exchange(false); }
  // A pass failed on the disk: the writer must not trust what it has written. Asking clears it.
  bool failed() { return failed_.exchange(false); }

 private:
  void work();
  void pass();

  Handle db_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool due_ = false;
  bool stopping_ = false;
  std::atomic<bool> finish_due_{false};
  std::atomic<bool> failed_{false};
  std::thread thread_;  // last: it uses all of the above
};

// Moves what it can without waiting for anybody. False when the disk failed.
bool checkpoint_passively(sqlite3* db, bool& all);

}  // namespace hapax::store::sqlite
