// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/checkpointer.hpp"

#include <sqlite3.h>

namespace hapax::store::sqlite {

bool checkpoint_passively(sqlite3* db) {
  const int code =
      sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

Checkpointer::Checkpointer(Handle db) : db_(std::move(db)), thread_([this] { work(); }) {}

Checkpointer::~Checkpointer() {
  stop();
}

void Checkpointer::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Checkpointer::ask() {
  {
    const std::lock_guard lock(mutex_);
    due_ = true;
  }
  wake_.notify_one();
}

void Checkpointer::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return due_ || stopping_; });
    if (stopping_) return;
    lock.unlock();
    if (!checkpoint_passively(db_.get())) failed_ = true;
    lock.lock();
    // What was asked for during the pass is the writer's to finish. SQLite counts the log as it was
    // when the pass began, so only the writer can tell whether anything was appended since.
    due_ = false;
    finish_due_ = true;
  }
}

}  // namespace hapax::store::sqlite
