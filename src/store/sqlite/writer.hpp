// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"
#include "store/sqlite/claims.hpp"
#include "store/sqlite/connection.hpp"

#include <functional>
#include <memory>
#include <string>

namespace hapax::store::sqlite {

struct FileOptions {
  std::string path;
  std::chrono::milliseconds busy_timeout;
};

// The store's one writing connection, and what to do when it fails. Used by one thread at a time.
//
// After a COMMIT that fails nobody can say what is on disk. The connection is then poisoned:
// closed, opened again, and the write-ahead log checkpointed and truncated before anything else is
// answered. The same work then runs once more with the same tokens, which tells what became of the
// first try.
class Writer {
 public:
  static Result<Writer> open(const FileOptions& options, Clock& clock);

  // Runs `work` inside one transaction, which is committed and synced when this returns success.
  // `work` may run twice; what it answers must come from its last run. An error leaves nothing
  // behind, unless its outcome is unknown.
  Result<void> transact(const std::function<Result<void>(Writer&)>& work);

  sqlite3* handle() { return connection_->db.get(); }
  Claims& claims() { return connection_->claims; }
  // How long the write-ahead log was after the last commit of this connection.
  int log_pages() const { return connection_ ? connection_->log_pages : 0; }

  // The next transaction starts by opening the file again.
  void poison() { poisoned_ = true; }

 private:
  struct Connection {
    Connection(Handle handle, Claims prepared);
    Handle db;
    Claims claims;  // after db: its statements must be finalised before the handle closes
    int log_pages = 0;
  };
  enum class Stage { before_commit, at_commit };

  Writer(FileOptions options, Clock& clock) : options_(std::move(options)), clock_(&clock) {}
  Result<void> connect();
  Result<void> heal();
  Result<void> attempt(const std::function<Result<void>(Writer&)>& work, Stage& failed_at);

  FileOptions options_;
  Clock* clock_;
  std::unique_ptr<Connection> connection_;  // null after a failed heal()
  bool poisoned_ = false;
};

}  // namespace hapax::store::sqlite
