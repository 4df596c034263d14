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

namespace {

// Sanitizers find errors per executed line, not per repetition, and run three times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPart = 50;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr int kPart = 50;
#else
constexpr int kPart = 10;
#endif
#else
constexpr int kPart = 10;
#endif

}  // namespace

bool is_long_run() {
  const char* wanted = std::getenv("HAPAX_TEST_LONG");
  return wanted != nullptr && *wanted == '1';
}

bool runs_all_cases() {
  const char* wanted = std::getenv("HAPAX_TEST_MATRIX");
  return wanted != nullptr && *wanted == '1';
}

int rounds(int whole) {
  return is_long_run() ? whole : std::max(1, whole / kPart);
}

}  // namespace hapax::test
