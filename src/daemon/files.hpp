// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include "gateway/handshake.hpp"

#include <span>
#include <string>
#include <vector>

namespace hapax::daemon {

// A database file that one server at a time has locked, as long as this lives. It is the file that
// is locked (flock), not its name: a symbolic or hard link and a bind mount lead to the same lock.
// The lock ends with the process, however it ends.
//
// Must live longer than every SQLite handle on that file in this process: closing a file gives up
// all POSIX locks that the process has on it, and those are SQLite's.
class FileLock {
 public:
  // misconfigured: another server has it, or the file cannot be made.
  static Result<FileLock> take(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

// The admin token in `path`; made, with mode 0600, when it is not there.
Result<std::string> token_in(const std::string& path, Random& random);

// The secrets that providers handed over, a line each: the source's path, a space, the secret; the
// newest of a source first. None where there is no file.
Result<std::vector<gateway::ProvisionedSecret>> read_provisioned_secrets(const std::string& path);
// Replaces the file as a whole, readable for its owner alone, on disk when this is done.
Result<void> write_provisioned_secrets(const std::string& path,
                                       std::span<const gateway::ProvisionedSecret> secrets);

}  // namespace hapax::daemon
