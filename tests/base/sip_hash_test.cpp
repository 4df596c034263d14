// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/sip_hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hapax {
namespace {

// The test vectors of the paper: key and input are the bytes 0, 1, 2, ...
TEST(SipHashTest, IsSipHash24) {
  const SipKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string bytes;
  for (char each = 0; each < 15; ++each) bytes += each;
  EXPECT_EQ(sip_hash(key, ""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(sip_hash(key, bytes.substr(0, 1)), 0x74f839c593dc67fdU);
  EXPECT_EQ(sip_hash(key, bytes), 0xa129ca6149be45e5U);
}

TEST(SipHashTest, DifferentKeysGiveDifferentHashes) {
  EXPECT_NE(sip_hash({1, 2}, "id"), sip_hash({1, 3}, "id"));
  EXPECT_NE(sip_hash({1, 2}, "id"), sip_hash({2, 2}, "id"));
}

}  // namespace
}  // namespace hapax
