// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"

#include <filesystem>
#include <string>

namespace hapax::bench {

// A directory of its own below the one that was named; it goes with all that is in it. Throws when
// it cannot be made, and when it would be in memory: a sync that costs nothing measures nothing.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::filesystem::path& parent);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  // A path in it that was not given out before.
  std::string fresh_file();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int files_ = 0;
};

// How long the disk takes to make one appended page durable: median.
Seconds time_of_sync(const std::string& path);

}  // namespace hapax::bench
