// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/reader.hpp"

#include "base/try.hpp"

namespace hapax::store::sqlite {

// Must not open another file than the writer's, nor create one where the writer's was removed.
Result<void> Reader::connect() {
  HAPAX_TRY(file_.check_database());
  if (handles_) return {};
  HAPAX_TRY_ASSIGN(db, open_file(path_, busy_timeout_));
  keep_log_on_close(db.get());  // checkpointing is left to the writer
  HAPAX_TRY(file_.check_database());
  HAPAX_TRY_ASSIGN(time, StoreTime::prepare(db.get(), clock_));
  HAPAX_TRY_ASSIGN(begin, Statement::prepare(db.get(), "BEGIN"));
  HAPAX_TRY_ASSIGN(end, Statement::prepare(db.get(), "ROLLBACK"));
  handles_ =
      std::make_unique<Handles>(std::move(db), std::move(time), std::move(begin), std::move(end));
  return {};
}

Result<void> Reader::read_snapshot(const std::function<Result<void>(View&)>& work) {
  HAPAX_TRY(Run(handles_->begin).step("begin to read"));
  HAPAX_TRY_ASSIGN(now_ms, handles_->time.peek_ms());
  View view{handles_->reading, handles_->rejects, handles_->names, handles_->records, now_ms};
  HAPAX_TRY(work(view));
  HAPAX_TRY(Run(handles_->end).step("end reading"));
  return {};
}

Result<void> Reader::read(const std::function<Result<void>(View&)>& work) {
  const std::lock_guard lock(mutex_);
  HAPAX_TRY(connect());
  Result<void> done = read_snapshot(work);
  // After any error the next read opens a new handle.
  if (!done) handles_.reset();
  return done;
}

std::unique_lock<std::mutex> Reader::close() {
  std::unique_lock lock(mutex_);
  handles_.reset();
  return lock;
}

}  // namespace hapax::store::sqlite
