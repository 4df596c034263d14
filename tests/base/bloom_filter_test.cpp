// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/bloom_filter.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hapax {
namespace {

constexpr int kKeys = 20'000;

std::string key_of(int number) {
  return "evt_" + std::to_string(number);
}

int maybes(const BloomFilter& filter, int from, int to) {
  int count = 0;
  for (int each = from; each < to; ++each) count += filter.may_have(key_of(each)) ? 1 : 0;
  return count;
}

TEST(BloomFilterTest, HasWhatWasAddedAndLittleElse) {
  BloomFilter filter(kKeys, {1, 2});
  EXPECT_EQ(maybes(filter, 0, kKeys), 0);
  for (int each = 0; each < kKeys; ++each) filter.add(key_of(each));
  EXPECT_EQ(maybes(filter, 0, kKeys), kKeys);
  EXPECT_LT(maybes(filter, kKeys, 2 * kKeys), kKeys / 50);
}

TEST(BloomFilterTest, WithFarMoreThanItsRoomItStillHasThemAll) {
  BloomFilter filter(0, {1, 2});
  for (int each = 0; each < 1000; ++each) filter.add(key_of(each));
  EXPECT_EQ(maybes(filter, 0, 1000), 1000);
}

// Or who finds keys that look alike once has them for every process.
TEST(BloomFilterTest, WhichOnesLookAlikeDependsOnTheKey) {
  BloomFilter one(50, {1, 2});
  BloomFilter other(50, {1, 3});
  for (int each = 0; each < 200; ++each) {
    one.add(key_of(each));
    other.add(key_of(each));
  }
  int alike = 0;
  for (int each = 200; each < 2000; ++each) {
    alike += one.may_have(key_of(each)) == other.may_have(key_of(each)) ? 1 : 0;
  }
  EXPECT_LT(alike, 1800);
  EXPECT_GT(maybes(one, 200, 2000), 0);
}

}  // namespace
}  // namespace hapax
