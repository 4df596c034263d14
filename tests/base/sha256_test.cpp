// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hapax {
namespace {

std::string hex(const Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 0xf];
  }
  return text;
}

TEST(Sha256, MatchesThePublishedValues) {  // FIPS 180-2, appendix B
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, HashOfPartsDependsOnTheirBoundaries) {
  EXPECT_NE(sha256_of_parts({"ab", "c"}), sha256_of_parts({"a", "bc"}));
  EXPECT_NE(sha256_of_parts({"a", ""}), sha256_of_parts({"", "a"}));
  EXPECT_NE(sha256_of_parts({"a"}), sha256_of_parts({"a", ""}));
}

}  // namespace
}  // namespace hapax
