// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/warm_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hapax::bench {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kMost = 4096 * kMiB;

std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Whole mebibytes, at most a quarter of the free memory.
std::size_t warmed() {
  const std::size_t free = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page_size();
  return std::min(kMost, free / 4) / kMiB * kMiB;
}

}  // namespace

WarmMemory::WarmMemory()
    : size_(warmed()),
      start_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  if (start_ == MAP_FAILED) return;
  std::memset(start_, 1, size_);
  for (std::size_t at = 0; at < size_; at += kMiB) {
    madvise(static_cast<char*>(start_) + at + page_size(), kMiB - page_size(), MADV_REMOVE);
  }
}

WarmMemory::~WarmMemory() {
  if (start_ != MAP_FAILED) munmap(start_, size_);
}

}  // namespace hapax::bench
