// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hapax::test {

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "hapax-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int rounds(int whole) {
  const char* wanted = std::getenv("HAPAX_TEST_LONG");
  const bool is_long = wanted != nullptr && *wanted == '1';
  return is_long ? whole : std::max(1, whole / 10);
}

}  // namespace hapax::test
