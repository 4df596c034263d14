// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/checkpointer.hpp"

#include <sqlite3.h>

namespace hapax::store::sqlite {

namespace {

constexpr int kLogPagesMax = 4000;  // 16 MiB of 4 KiB pages, before a pass begins

}  // namespace

bool checkpoint_passively(sqlite3* db, bool& all) {
  int log = 0;
  int moved = 0;
  const int code = sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_PASSIVE, &log, &moved);
  all = code == SQLITE_OK && log == moved;
  return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

Checkpointer::Checkpointer(Handle db) : db_(std::move(db)), thread_([this] { work(); }) {}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Checkpointer::note_log(int pages) {
  if (pages < kLogPagesMax) return;
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
    pass();
    lock.lock();
    due_ = false;  // what was noted during the pass is the writer's to finish
  }
}

void Checkpointer::pass() {
  bool all = false;
  if (!checkpoint_passively(db_.get(), all)) failed_ = true;
  if (!all) finish_due_ = true;
}

}  // namespace hapax::store::sqlite
