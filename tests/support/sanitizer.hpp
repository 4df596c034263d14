// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace hapax::test {

inline bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

// `wrote` is the standard error of a program that the test started. A sanitizer report in it fails
// the test regardless of the exit status: most servers here are killed, and ThreadSanitizer does
// not stop a program.
inline void expect_no_report(const std::string& wrote) {
  const bool reported = wrote.find("Sanitizer:") != std::string::npos;
  EXPECT_FALSE(reported) << wrote;
}

}  // namespace hapax::test
