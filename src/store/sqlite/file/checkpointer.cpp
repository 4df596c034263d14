// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/checkpointer.hpp"

#include <sqlite3.h>

#include <utility>

namespace hapax::store::sqlite {

bool checkpoint_passively(sqlite3* db) {
  const int code =
      sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

WatchedDatabase::WatchedDatabase(sqlite3* db) {
  sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file_);
  methods_ = *file_->pMethods;
  real_ = std::exchange(file_->pMethods, &methods_);
  methods_.xSync = sync_file;
}

WatchedDatabase::~WatchedDatabase() {
  file_->pMethods = real_;
}

WatchedDatabase& WatchedDatabase::of(sqlite3_file* file) {
  return *reinterpret_cast<WatchedDatabase*>(const_cast<sqlite3_io_methods*>(file->pMethods));
}

bool WatchedDatabase::sync() {
  return sync_file(file_, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

int WatchedDatabase::sync_file(sqlite3_file* file, int flags) {
  WatchedDatabase& self = of(file);
  self.unsynced_ = 0;
  const int code = self.real_->xSync(file, flags);
  if (code != SQLITE_OK) self.sync_failed_ = true;
  return code;
}

int WatchedDatabase::write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  WatchedDatabase& self = of(file);
  const int code = self.real_->xWrite(file, from, size, at);
  self.unsynced_ += size;
  if (code != SQLITE_OK || self.unsynced_ < kUnsyncedMax) return code;
  return self.sync() ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

Checkpointer::Checkpointer(Handle db)
    : db_(std::move(db)), database_(db_.get()), thread_([this] { return run_pass(); }) {
  database_.sync_as_it_grows();
  thread_.start();
}

void Checkpointer::request_pass() {
  due_ = true;
  thread_.wake();
}

std::chrono::milliseconds Checkpointer::run_pass() {
  if (!due_) return BackgroundThread::kUntilWoken;
  if (!checkpoint_passively(db_.get()) || !database_.sync()) failed_ = true;
  // Requests made during the pass are left to the writer to finish. SQLite counts the log as of
  // the start of the pass, so only the writer can tell whether anything was appended since.
  due_ = false;
  finish_due_ = true;
  return BackgroundThread::kUntilWoken;
}

}  // namespace hapax::store::sqlite
