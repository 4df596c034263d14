// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/files.hpp"

#include "base/hex.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
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
    return Error(Code::misconfigured,
                 "the admin token " + path +
                     " is empty or cannot be read; remove the file to generate a new one");
  }
  return token;
}

// store_unavailable makes the provider retry.
Error unkept(const std::string& doing, const std::string& path) {
  return Error(Code::store_unavailable,
               "cannot " + doing + " " + path + ": " + std::strerror(errno));
}

// True: all data is on disk.
bool write_synced(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(fd) == 0;
}

// A rename is durable once its directory is synced.
bool sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced;
}

}  // namespace

// Creates a missing file as SQLite would; SQLite treats an empty file as a new database.
Result<FileLock> FileLock::take(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return cannot("open the database", path);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return FileLock(fd);
  // The descriptor stays open: this process may hold the lock already, and close() would release
  // SQLite's locks (files.hpp). A rejected process exits soon.
  if (errno != EWOULDBLOCK) return cannot("lock the database", path);
  return Error(Code::misconfigured, "another hapax serve uses this database (" + path +
                                        " is locked); stop it or use another database");
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> token_in(const std::string& path, Random& random) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return read_token(path);
  if (fd < 0) return cannot("create the admin token", path);
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

Result<std::vector<gateway::ProvisionedSecret>> read_provisioned_secrets(const std::string& path) {
  std::vector<gateway::ProvisionedSecret> secrets;
  errno = 0;
  std::ifstream file(path);
  if (!file && errno == ENOENT) return secrets;
  if (!file) return cannot("read", path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::size_t space = line.find(' ');
    if (line.empty()) continue;
    if (space == 0 || space == std::string::npos || space + 1 == line.size()) {
      return Error(Code::misconfigured,
                   path + ":" + std::to_string(number) +
                       ": expected a source, a space and a secret; correct or remove the line");
    }
    secrets.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return secrets;
}

Result<void> write_provisioned_secrets(const std::string& path,
                                       std::span<const gateway::ProvisionedSecret> secrets) {
  std::string text;
  for (const gateway::ProvisionedSecret& each : secrets)
    text += each.path + ' ' + each.secret + '\n';
  const std::string fresh = path + ".new";
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return unkept("write", fresh);
  const bool written = fchmod(fd, 0600) == 0 && write_synced(fd, text);
  const bool closed = close(fd) == 0;
  if (!written || !closed) return unkept("write", fresh);
  if (rename(fresh.c_str(), path.c_str()) != 0) return unkept("replace", path);
  if (!sync_directory_of(path)) return unkept("sync the directory of", path);
  return {};
}

}  // namespace hapax::daemon
