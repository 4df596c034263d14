// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/env.hpp>

#include <gtest/gtest.h>

#include <array>

namespace hapax {
namespace {

TEST(SystemClock, TwoClocksReportTheSameBootId) {
  EXPECT_EQ(make_system_clock()->boot_id(), make_system_clock()->boot_id());
  EXPECT_FALSE(make_system_clock()->boot_id().empty());
}

TEST(SystemRandom, FillsAllBytesDifferentlyEachTime) {
  const auto random = make_system_random();
  std::array<unsigned char, 100'000> first{};
  std::array<unsigned char, 100'000> second{};
  random->fill(first);
  random->fill(second);
  EXPECT_NE(first, second);
  std::array<int, 256> seen{};
  for (unsigned char byte : first) ++seen[byte];
  for (int count : seen) EXPECT_GT(count, 0);
  random->fill({});
}

}  // namespace
}  // namespace hapax
