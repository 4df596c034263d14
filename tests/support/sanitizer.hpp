// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace hapax::test {

// `wrote` is what a program that the test started has written on standard error. A sanitizer's
// report in it is a failure, whatever the program's end was: most servers here are killed, and
// ThreadSanitizer lets a program go on.
inline void expect_no_report(const std::string& wrote) {
  const bool reported = wrote.find("Sanitizer:") != std::string::npos;
  EXPECT_FALSE(reported) << wrote;
}

}  // namespace hapax::test
