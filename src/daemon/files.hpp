// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include <string>

namespace hapax::daemon {

// A file that one process at a time has locked, as long as this lives. The lock ends with the
// process, however it ends.
class FileLock {
 public:
  // misconfigured: another process has it, or the file cannot be made.
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

}  // namespace hapax::daemon
