// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/claim_key.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hapax {
namespace {

TEST(ClaimKey, MovingAByteFromGroupToIdGivesAnotherKey) {
  EXPECT_NE(claim_key(ClaimKind::id, "ab", "c"), claim_key(ClaimKind::id, "a", "bc"));
}

TEST(ClaimKey, KeysOfDifferentKindsDiffer) {
  EXPECT_NE(claim_key(ClaimKind::id, "a", "b"), claim_key(ClaimKind::message, "a", "b"));
  const std::string big(1000, 'x');
  EXPECT_NE(claim_key(ClaimKind::id, "a", big), claim_key(ClaimKind::message, "a", big));
}

TEST(ClaimKey, IdsOfOneGroupKeepTheirOrder) {
  EXPECT_LT(claim_key(ClaimKind::id, "s", "2026-01"), claim_key(ClaimKind::id, "s", "2026-02"));
}

TEST(ClaimKey, AKeyIsPlainUpToTheLimitAndHashedBeyond) {
  const std::string fits = claim_key(ClaimKind::id, "s", std::string(kMaxPlainKey - 4, 'x'));
  const std::string hashed = claim_key(ClaimKind::id, "s", std::string(kMaxPlainKey - 3, 'x'));
  EXPECT_EQ(fits.size(), kMaxPlainKey);
  EXPECT_EQ(hashed.size(), 33U);
}

// A plain key with the bytes of another key's hash must not equal that key.
TEST(ClaimKey, NoPlainKeyEqualsAHashedOne) {
  const std::string hashed = claim_key(ClaimKind::id, "s", std::string(1000, 'x'));
  EXPECT_NE(static_cast<unsigned char>(hashed.front()) & 0x80U, 0U);
  EXPECT_EQ(static_cast<unsigned char>(claim_key(ClaimKind::id, "\xff", "\xff").front()) & 0x80U,
            0U);
}

TEST(ClaimKey, EverySplitOfTheSameBytesHasItsOwnKey) {
  const std::string text(300, 'a');
  std::set<std::string> keys;
  for (std::size_t cut = 1; cut < 256; ++cut) {
    keys.insert(claim_key(ClaimKind::id, text.substr(0, cut), text.substr(cut)));
  }
  EXPECT_EQ(keys.size(), 255U);
}

}  // namespace
}  // namespace hapax
