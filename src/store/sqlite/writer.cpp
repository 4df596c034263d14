// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/writer.hpp"

#include "base/try.hpp"

#include <sqlite3.h>

namespace hapax::store::sqlite {

namespace {

Error unknown(const Error& cause) {
  return Error(Code::outcome_unknown,
               cause.detail() +
                   "; whether it was committed is not known, repeat the request with "
                   "the same token");
}

}  // namespace

Writer::Connection::Connection(Handle handle, Claims prepared)
    : db(std::move(handle)), claims(std::move(prepared)) {
  const auto note = [](void* pages, sqlite3*, const char*, int log) {
    *static_cast<int*>(pages) = log;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(db.get(), note, &log_pages);
}

Result<Writer> Writer::open(const FileOptions& options, Clock& clock) {
  Writer writer(options, clock);
  HAPAX_TRY(writer.connect());
  return writer;
}

Result<void> Writer::connect() {
  HAPAX_TRY_ASSIGN(db, open_file(options_.path, options_.busy_timeout));
  HAPAX_TRY_ASSIGN(claims, Claims::prepare(db.get(), *clock_));
  connection_ = std::make_unique<Connection>(std::move(db), std::move(claims));
  return {};
}

Result<void> Writer::heal() {
  connection_.reset();
  HAPAX_TRY(connect());
  // A page that once failed to sync may look clean to the kernel. Writing the whole log into the
  // database and syncing that settles what is there.
  const int code =
      sqlite3_wal_checkpoint_v2(handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) {
    Error error = error_of(handle(), code, "recover the write-ahead log");
    connection_.reset();
    return error;
  }
  poisoned_ = false;
  return {};
}

Result<void> Writer::attempt(const std::function<Result<void>(Writer&)>& work, Stage& failed_at) {
  failed_at = Stage::before_commit;
  if (poisoned_ || !connection_) HAPAX_TRY(heal());
  HAPAX_TRY(execute(handle(), "BEGIN IMMEDIATE", "begin a transaction"));
  Result<void> done = work(*this);
  if (done) {
    failed_at = Stage::at_commit;
    done = execute(handle(), "COMMIT", "commit");
  }
  if (done) return done;
  const bool locked_out = failed_at == Stage::at_commit && done.error().code() == Code::store_busy;
  if (locked_out) failed_at = Stage::before_commit;  // SQLite commits nothing when it is busy
  const bool broken = failed_at == Stage::at_commit || !roll_back(handle()) ||
                      done.error().code() == Code::store_unavailable;
  if (broken) poison();
  return done;
}

Result<void> Writer::transact(const std::function<Result<void>(Writer&)>& work) {
  Stage failed_at = Stage::before_commit;
  Result<void> first = attempt(work, failed_at);
  if (first || failed_at == Stage::before_commit) return first;
  // Same work, same tokens: a first try that did commit is found as ours.
  Result<void> second = attempt(work, failed_at);
  if (second) return second;
  return unknown(failed_at == Stage::at_commit ? second.error() : first.error());
}

}  // namespace hapax::store::sqlite
