// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/claims/claims.hpp"
#include "store/sqlite/file/checkpointer.hpp"
#include "store/sqlite/file/connection.hpp"
#include "store/sqlite/file/reader.hpp"
#include "store/sqlite/file/same_file.hpp"
#include "store/sqlite/inbox.hpp"

#include <functional>
#include <memory>
#include <string>

namespace hapax::store::sqlite {

struct FileOptions {
  std::string path;
  std::chrono::milliseconds busy_timeout;
};

// The store's handles on its file, and their recovery after failures. Used by one thread at a time,
// except the reader, which is thread-safe.
//
// After a failed COMMIT the state on disk is unknown. A new writing handle is then opened before
// the failed one is closed, and the write-ahead log is checkpointed, before anything else is
// answered. The same work then runs once more with the same tokens. Because one of our handles is
// always open, SQLite's WAL index survives, and the failed commit is not in it: the second run does
// not find the first one's rows. If it does (all handles had to be closed, see below), claims are
// found by their tokens, leases expire, and counts (duplicates, rejects) are one run too high.
//
// After a failed sync of the database, checkpointed pages may be lost although the kernel considers
// them clean. SQLite would not write them again, because its WAL index counts them as checkpointed.
// The WAL index is dropped with the last handle: so all are closed, leaving the log in place, and
// the whole log is checkpointed again. Other failures of a checkpoint lose nothing: after a disk
// error or a full disk the handles are only reopened, and an active reader needs no recovery.
class Writer {
 public:
  static Result<Writer> open(FileOptions options, Clock& clock);
  ~Writer();
  Writer(Writer&&) = default;
  Writer& operator=(Writer&&) = delete;

  // Runs `work` inside one transaction, which is committed and synced when this returns success.
  // `work` may run twice; its answers must come from the last run. After an error nothing has
  // changed, unless the outcome is unknown.
  Result<void> transact(const std::function<Result<void>(Writer&)>& work);

  sqlite3* handle() { return handles_->db.get(); }
  Inbox& inbox() { return handles_->inbox; }
  Reader& reader() { return *reader_; }

 private:
  struct Handles {
    Handles(Handle writing, Statement to_begin, Statement to_commit, ClaimTable prepared,
            Handle checkpointing, std::int64_t& fence_high_water);
    Handle db;  // before the statements: they must be finalized before it closes
    Statement begin;
    Statement commit;
    Inbox inbox;
    int log_pages = 0;          // of the write-ahead log, after the last commit here
    int log_pages_at_pass = 0;  // when the running checkpointer pass was requested
    int passes = 0;             // since the log was last checkpointed whole; 0: none runs
    WatchedDatabase database;   // of db
    Checkpointer checkpointer;
  };
  enum class Stage { before_commit, at_commit };
  enum class HandleState { trusted, suspect_commit, suspect_checkpoint };

  Writer(FileOptions options, Clock& clock);
  Result<void> connect();
  void disconnect();
  Result<void> recover();
  Result<void> reopen();
  Result<void> move_log_again();
  Result<void> move_log_alone();
  Result<void> attempt(const std::function<Result<void>(Writer&)>& work, Stage& failed_at);
  Result<void> run(const std::function<Result<void>(Writer&)>& work, Stage& failed_at);
  void mark_suspect(HandleState state);
  void note_failures();
  void maintain_log();
  void begin_pass();

  FileOptions options_;
  Clock* clock_;
  std::unique_ptr<std::int64_t> fence_high_water_;  // see Fences; at a stable address
  std::unique_ptr<SameFile> file_;
  std::unique_ptr<Handles> handles_;  // null if the file could not be reopened
  std::unique_ptr<Reader> reader_;
  HandleState state_ = HandleState::trusted;
};

}  // namespace hapax::store::sqlite
