// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace hapax::bench {

// Where a host gives memory to its guest only when that first uses it, such a use costs five times
// a copy, and a store's growing files pay for it. It is the host's time, so it is spent before
// anything is measured. Memory that is free in large pieces goes back to the host after seconds:
// one page in every mebibyte is kept for as long as this lives, so that there are none.
class WarmMemory {
 public:
  WarmMemory();
  ~WarmMemory();
  WarmMemory(const WarmMemory&) = delete;
  WarmMemory& operator=(const WarmMemory&) = delete;

 private:
  std::size_t size_;
  void* start_;
};

}  // namespace hapax::bench
