// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/files.hpp"

#include "base/hex.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace hapax::daemon {

namespace {

Error cannot(const std::string& doing, const std::string& path) {
  return Error(Code::misconfigured, "cannot " + doing + " " + path + ": " + std::strerror(errno));
}

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  if (token.empty()) {
    return Error(Code::misconfigured, "the admin token " + path +
                                          " is empty or cannot be read; remove the file, and a new "
                                          "one is made");
  }
  return token;
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return cannot("open the lock file", path);
  FileLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return cannot("lock", path);
  return Error(Code::misconfigured,
               "another hapax serve uses this database (" + path +
                   " is locked); stop it, or give this one a database of its own");
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> token_in(const std::string& path, Random& random) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return read_token(path);
  if (fd < 0) return cannot("make the admin token", path);
  std::array<unsigned char, 32> bytes{};
  random.fill(bytes);
  const std::string token =
      to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const std::string line = token + '\n';
  const bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const bool closed = close(fd) == 0;
  if (!written || !closed) return cannot("write the admin token", path);
  return token;
}

}  // namespace hapax::daemon
