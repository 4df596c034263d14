// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/backoff.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hapax::store::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Backoff kBackoff{1ms, 256ms};

// Random bytes at their minimum or maximum.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(unsigned char byte) : byte_(byte) {}
  void fill(std::span<unsigned char> bytes) override {
    for (unsigned char& each : bytes) each = byte_;
  }

 private:
  unsigned char byte_;
};

TEST(Backoff, IsBetweenHalfAndAllOfADoublingDelay) {
  FixedRandom least(0x00);
  FixedRandom most(0xff);
  BootTime whole = 1ms;
  for (int failures = 0; failures < 8; ++failures, whole *= 2) {
    EXPECT_EQ(kBackoff.rest(failures, least), whole / 2) << failures;
    EXPECT_EQ(kBackoff.rest(failures, most), whole) << failures;
  }
}

TEST(Backoff, NeverExceedsTheMaximum) {
  FixedRandom most(0xff);
  for (const int failures : {8, 9, 20, 31, 32, 1000}) {
    EXPECT_EQ(kBackoff.rest(failures, most), 256ms) << failures;
  }
}

TEST(Backoff, DependsOnlyOnTheRandomSource) {
  test::SeededRandom one(7);
  test::SeededRandom same(7);
  std::set<BootTime> seen;
  for (int i = 0; i < 100; ++i) {
    const BootTime rest = kBackoff.rest(8, one);
    EXPECT_EQ(rest, kBackoff.rest(8, same));
    seen.insert(rest);
  }
  EXPECT_GT(seen.size(), 90U);
}

}  // namespace
}  // namespace hapax::store::postgres
