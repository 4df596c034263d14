// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/writer.hpp"

#include "base/try.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

namespace hapax::store::sqlite {

namespace {

constexpr int kLogPagesMax = 32000;  // 125 MiB of 4 KiB pages, before a checkpoint begins
constexpr int kRestPagesMax = 500;   // that a commit may have to checkpoint
constexpr int kPassesMax = 8;        // then the writer checkpoints the rest, however long

Error unknown(const Error& cause) {
  return Error(Code::outcome_unknown,
               cause.detail() + "; the outcome is unknown, repeat the request with the same token");
}

// Checkpoints the whole log and syncs the database. store_busy: part of the log may remain, because
// other connections read or write.
Result<void> empty_log(sqlite3* db) {
  const int code =
      sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(db, code, "recover the write-ahead log");
  return {};
}

}  // namespace

Writer::Handles::Handles(Handle writing, Statement to_begin, Statement to_commit,
                         ClaimTable prepared, Handle checkpointing, std::int64_t& fence_high_water)
    : db(std::move(writing)),
      begin(std::move(to_begin)),
      commit(std::move(to_commit)),
      inbox(db.get(), std::move(prepared), fence_high_water),
      database(db.get()),
      checkpointer(std::move(checkpointing)) {
  const auto note = [](void* pages, sqlite3*, const char*, int log) {
    *static_cast<int*>(pages) = log;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(db.get(), note, &log_pages);
}

Writer::Writer(FileOptions options, Clock& clock)
    : options_(std::move(options)),
      clock_(&clock),
      fence_high_water_(std::make_unique<std::int64_t>(0)),
      file_(std::make_unique<SameFile>(options_.path)),
      reader_(std::make_unique<Reader>(options_.path, options_.busy_timeout, clock, *file_)) {}

Result<Writer> Writer::open(FileOptions options, Clock& clock) {
  // The working directory may change, and the file is reopened after failures.
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::absolute(options.path, failure);
  if (!failure) options.path = whole.string();
  Writer writer(std::move(options), clock);
  HAPAX_TRY(writer.connect());
  return writer;
}

// The reader first: the last handle to close checkpoints the log, and that must be the writer's.
Writer::~Writer() {
  if (!reader_) return;  // moved from
  static_cast<void>(reader_->close());
  disconnect();
}

// Old handles are closed once the new ones are open.
Result<void> Writer::connect() {
  HAPAX_TRY_ASSIGN(db, open_file(options_.path, options_.busy_timeout));
  HAPAX_TRY_ASSIGN(other, open_file(options_.path, options_.busy_timeout));
  HAPAX_TRY_ASSIGN(claims, ClaimTable::prepare(db.get(), *clock_));
  HAPAX_TRY_ASSIGN(begin, Statement::prepare(db.get(), "BEGIN IMMEDIATE"));
  HAPAX_TRY_ASSIGN(commit, Statement::prepare(db.get(), "COMMIT"));
  HAPAX_TRY(file_->note(db.get()));
  handles_ = std::make_unique<Handles>(std::move(db), std::move(begin), std::move(commit),
                                       std::move(claims), std::move(other), *fence_high_water_);
  return {};
}

void Writer::disconnect() {
  if (!handles_) return;
  handles_->checkpointer.stop();
  note_failures();
  if (state_ == HandleState::suspect_checkpoint || !file_->has_log()) {
    keep_log_on_close(handles_->db.get());
    keep_log_on_close(handles_->checkpointer.handle());
  }
  handles_.reset();
  file_->forget_log();
}

void Writer::note_failures() {
  if (!handles_) return;
  if (handles_->checkpointer.failed()) mark_suspect(HandleState::suspect_commit);
  const bool of_writer = handles_->database.sync_failed();
  if (handles_->checkpointer.sync_failed() || of_writer) {
    mark_suspect(HandleState::suspect_checkpoint);
  }
}

// Uses a separate handle with exclusive access, and closes it again.
Result<void> Writer::move_log_alone() {
  Result<Handle> alone = open_file(options_.path, options_.busy_timeout, Sharing::none);
  if (!alone && alone.error().code() == Code::store_busy) {
    return Error(Code::store_unavailable,
                 "syncing " + options_.path +
                     " failed, so its write-ahead log must be checkpointed again with exclusive "
                     "access; close all other connections to the file");
  }
  if (!alone) return std::move(alone).error();
  Result<void> done = empty_log(alone->get());
  if (!done) keep_log_on_close(alone->get());
  return done;
}

// Ends with open handles even on failure: otherwise another process that closes the file last would
// checkpoint only the pages that SQLite still counts as not checkpointed, and remove the log.
Result<void> Writer::move_log_again() {
  const std::unique_lock nobody_reads = reader_->close();
  disconnect();
  Result<void> moved = move_log_alone();
  Result<void> connected = connect();
  if (!moved) return moved;
  if (connected) state_ = HandleState::trusted;
  return connected;
}

// The new handle is opened before the failed one is closed, so that SQLite's WAL index survives. It
// ends at the last successful commit: frames that the failed one left in the log are overwritten by
// the next commit, even if readers keep the log from being truncated.
Result<void> Writer::reopen() {
  HAPAX_TRY(connect());
  sqlite3_busy_timeout(handle(), 0);
  Result<void> done = empty_log(handle());
  sqlite3_busy_timeout(handle(), static_cast<int>(options_.busy_timeout.count()));
  note_failures();
  if (state_ == HandleState::suspect_checkpoint) return move_log_again();
  if (!done && done.error().code() != Code::store_busy) return done;
  state_ = HandleState::trusted;
  return {};
}

Result<void> Writer::recover() {
  if (handles_) {
    handles_->checkpointer.stop();
    roll_back(handle());
    note_failures();
  }
  return state_ == HandleState::suspect_checkpoint ? move_log_again() : reopen();
}

void Writer::mark_suspect(HandleState state) {
  state_ = std::max(state_, state);
}

Result<void> Writer::run(const std::function<Result<void>(Writer&)>& work, Stage& failed_at) {
  HAPAX_TRY(Run(handles_->begin).step("begin a transaction"));
  try {
    HAPAX_TRY(work(*this));
    failed_at = Stage::at_commit;
    HAPAX_TRY(Run(handles_->commit).step("commit"));
  } catch (...) {  // state in memory may be half changed, too
    roll_back(handle());
    mark_suspect(HandleState::suspect_commit);
    throw;
  }
  // A check that fails says nothing about the commit, and is repeated before the next one.
  Result<void> same = file_->check();
  return file_->is_replaced() ? same : Result<void>();
}

Result<void> Writer::attempt(const std::function<Result<void>(Writer&)>& work, Stage& failed_at) {
  failed_at = Stage::before_commit;
  HAPAX_TRY(file_->check());
  note_failures();
  if (!handles_ || state_ != HandleState::trusted) HAPAX_TRY(recover());
  Result<void> done = run(work, failed_at);
  if (done) return done;
  // A COMMIT that fails with SQLITE_BUSY or an early interrupt leaves the transaction open. After a
  // late interrupt the transaction has ended.
  const bool locked_out = done.error().code() == Code::store_busy && in_transaction(handle());
  if (locked_out) failed_at = Stage::before_commit;
  const bool broken = !roll_back(handle()) || failed_at == Stage::at_commit ||
                      done.error().code() == Code::store_unavailable;
  if (broken) mark_suspect(HandleState::suspect_commit);
  return done;
}

Result<void> Writer::transact(const std::function<Result<void>(Writer&)>& work) {
  Stage failed_at = Stage::before_commit;
  Result<void> first = attempt(work, failed_at);
  if (first) maintain_log();
  if (first || failed_at == Stage::before_commit) return first;
  // Same work, same tokens: claims of a first run that was committed are recognized as ours.
  Result<void> second = attempt(work, failed_at);
  if (second) return second;
  return unknown(failed_at == Stage::at_commit ? second.error() : first.error());
}

// Commits continue during a pass, so a pass leaves pages in the log. Many are left to another pass;
// the writer checkpoints a few itself, so that nothing is appended meanwhile and the log restarts.
void Writer::maintain_log() {
  Handles& all = *handles_;
  note_failures();
  if (state_ != HandleState::trusted) return;
  if (!all.checkpointer.finish_due()) {
    if (all.passes == 0 && all.log_pages >= kLogPagesMax) begin_pass();
    return;
  }
  const int rest = all.log_pages - all.log_pages_at_pass;
  if (rest > kRestPagesMax && all.passes < kPassesMax) return begin_pass();
  all.passes = 0;
  if (!checkpoint_passively(handle())) mark_suspect(HandleState::suspect_commit);
  note_failures();
}

void Writer::begin_pass() {
  ++handles_->passes;
  handles_->log_pages_at_pass = handles_->log_pages;
  handles_->checkpointer.request_pass();
}

}  // namespace hapax::store::sqlite
