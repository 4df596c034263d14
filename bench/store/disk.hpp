// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"

#include <filesystem>
#include <string>

namespace hapax::bench {

// A new directory below the given one, removed with its content. Throws if it cannot be created or
// would be in memory, where syncs cost nothing.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::filesystem::path& parent);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  // A new path in the directory.
  std::string fresh_file();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int files_ = 0;
};

// The median time to make one appended page durable.
Seconds time_of_sync(const std::string& path);

}  // namespace hapax::bench
