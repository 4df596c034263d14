// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/nfkd.hpp"

#include <gtest/gtest.h>

namespace hapax::verify_detail {
namespace {

TEST(Nfkd, KeepsAscii) {
  std::string ascii;
  for (char c = 1; c < 127; ++c) ascii += c;
  EXPECT_EQ(nfkd(ascii), ascii);
  EXPECT_EQ(nfkd(""), "");
}

TEST(Nfkd, DecomposesLatinLetters) {
  EXPECT_EQ(nfkd("\xc3\xa9"), "e\xcc\x81");
  EXPECT_EQ(nfkd("s\xc3\xa9"
                 "cret"),
            "se\xcc\x81"
            "cret");
  EXPECT_EQ(nfkd("\xc2\xbd"),
            "1\xe2\x81\x84"
            "2");
  EXPECT_EQ(nfkd("\xc3\x9f"), "\xc3\x9f") << "sharp s has no decomposition";
}

TEST(Nfkd, ReturnsNothingForUnsupportedCharacters) {
  for (const char* text :
       {"\xe6\x97\xa5", "\xcc\x81", "\xd0\xb9", "\xff", "\xc3", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(nfkd(text), std::nullopt);
  }
}

}  // namespace
}  // namespace hapax::verify_detail
