// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "gateway/handshake.hpp"

#include <span>
#include <string>
#include <vector>

namespace hapax::daemon {

// An exclusive lock on a database file, held while this object lives. flock() locks the file, not
// its name: symbolic links, hard links and bind mounts lead to the same lock. The lock ends with
// the process, also when it is killed.
//
// Must outlive every SQLite handle on that file in this process: closing a file releases all POSIX
// locks of the process on it, including SQLite's.
class FileLock {
 public:
  // misconfigured: another server holds the lock, or the file cannot be created.
  static Result<FileLock> take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

// The admin token in `path`. Creates the file, with mode 0600, if it does not exist.
Result<std::string> token_in(const std::string& path, Random& random);

// The provisioned secrets, one per line: the path of the source, a space, the secret; the newest of
// a source first. Empty if the file does not exist.
Result<std::vector<gateway::ProvisionedSecret>> read_provisioned_secrets(const std::string& path);
// Replaces the whole file, with mode 0600. Durable on return.
Result<void> write_provisioned_secrets(const std::string& path,
                                       std::span<const gateway::ProvisionedSecret> secrets);

}  // namespace hapax::daemon
