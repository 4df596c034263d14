// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace hapax::bench {

// Touches free memory before a measurement. A virtual machine may get a page from its host only at
// the first use, which costs five times as much as a copy and would be charged to the growing files
// of a store. The host takes back large free areas after seconds, so one page in every mebibyte is
// kept for the lifetime of this object.
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
