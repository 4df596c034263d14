// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// For LD_PRELOAD: simulates a full disk while the file `full` exists in the directory
// $HAPAX_FULL_DISK. Writing to or extending a file there fails with ENOSPC.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_full(int fd) {
  const char* directory = std::getenv("HAPAX_FULL_DISK");
  if (fd <= STDERR_FILENO || directory == nullptr) return false;
  char name[4096];
  std::snprintf(name, sizeof name, "%s/full", directory);
  if (access(name, F_OK) != 0) return false;
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, name, sizeof name - 1);
  const std::size_t length = std::strlen(directory);
  return size > static_cast<ssize_t>(length) && std::strncmp(name, directory, length) == 0;
}

template <class Answer, class... Arguments>
Answer unless_full(const char* name, int fd, Arguments... arguments) {
  if (is_full(fd)) {
    errno = ENOSPC;
    return -1;
  }
  return real<Answer(int, Arguments...)>(name)(fd, arguments...);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, std::size_t size) {
  return unless_full<ssize_t>("write", fd, data, size);
}
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t at) {
  return unless_full<ssize_t>("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, std::size_t size, off64_t at) {
  return unless_full<ssize_t>("pwrite64", fd, data, size, at);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return unless_full<ssize_t>("writev", fd, parts, count);
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t at) {
  return unless_full<ssize_t>("pwritev", fd, parts, count, at);
}
int ftruncate(int fd, off_t size) noexcept {
  return unless_full<int>("ftruncate", fd, size);
}
int ftruncate64(int fd, off64_t size) noexcept {
  return unless_full<int>("ftruncate64", fd, size);
}
int fallocate(int fd, int mode, off_t at, off_t size) {
  return unless_full<int>("fallocate", fd, mode, at, size);
}
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
  return unless_full<int>("fallocate64", fd, mode, at, size);
}
int posix_fallocate(int fd, off_t at, off_t size) {
  return is_full(fd) ? ENOSPC : real<int(int, off_t, off_t)>("posix_fallocate")(fd, at, size);
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
  return is_full(fd) ? ENOSPC : real<int(int, off64_t, off64_t)>("posix_fallocate64")(fd, at, size);
}

}  // extern "C"
