// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/disk.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace hapax::bench {

namespace {

void refuse_memory(const std::filesystem::path& directory) {
  struct statfs system {};
  if (statfs(directory.c_str(), &system) != 0) {
    throw std::runtime_error("cannot use " + directory.string() +
                             "; name a directory that can be written");
  }
  if (system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC) return;
  throw std::runtime_error(directory.string() +
                           " is in memory; name a directory on a disk with --dir");
}

Seconds sync_page(int file) {
  constexpr std::array<char, 4096> kPage{};
  if (write(file, kPage.data(), kPage.size()) < 0) throw std::runtime_error("cannot write a page");
  const auto start = std::chrono::steady_clock::now();
  if (fdatasync(file) != 0) throw std::runtime_error("cannot sync a page");
  return std::chrono::steady_clock::now() - start;
}

}  // namespace

WorkDirectory::WorkDirectory(const std::filesystem::path& parent) {
  refuse_memory(parent);
  std::string name = (parent / "hapax-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a directory in " + parent.string() +
                             "; name one that can be written with --dir");
  }
  path_ = name;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string WorkDirectory::fresh_file() {
  return (path_ / (std::to_string(files_++) + ".db")).string();
}

Seconds time_of_sync(const std::string& path) {
  constexpr int kSyncs = 101;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot open " + path);
  std::vector<double> times;
  times.reserve(kSyncs);
  for (int i = 0; i < kSyncs; ++i) times.push_back(sync_page(file).count());
  close(file);
  return Seconds(median(std::move(times)));
}

}  // namespace hapax::bench
