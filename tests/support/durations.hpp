// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

namespace hapax::test {

// Durations of a repeated operation, printed for people. No test asserts a duration.
class Durations {
 public:
  void start() { start_ = Clock::now(); }
  void stop() {
    const Milliseconds took = Clock::now() - start_;
    longest_ = std::max(longest_, took);
    sum_ += took;
    ++count_;
  }
  // Also records them as properties of the current test.
  void print(const std::string& what) const {
    if (count_ == 0) return;
    std::cout << "  " << what << ": " << count_ << " times, " << (sum_ / count_).count()
              << " ms on average, " << longest_.count() << " ms at most\n";
    testing::Test::RecordProperty("average_ms", std::to_string((sum_ / count_).count()));
    testing::Test::RecordProperty("longest_ms", std::to_string(longest_.count()));
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;

  Clock::time_point start_;
  Milliseconds longest_{0};
  Milliseconds sum_{0};
  int count_ = 0;
};

}  // namespace hapax::test
