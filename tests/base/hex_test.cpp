// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/hex.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hapax {
namespace {

TEST(HexText, AnyByteRoundTripsInBothCases) {
  for (int i = 0; i < 256; ++i) {
    const std::string byte(1, static_cast<char>(i));
    std::string text = to_hex(byte);
    EXPECT_EQ(text.size(), 2U);
    EXPECT_EQ(from_hex(text), byte);
    for (char& c : text) c = c >= 'a' ? static_cast<char>(c - 32) : c;
    EXPECT_EQ(from_hex(text), byte);
  }
}

TEST(HexText, OtherTextIsRejected) {
  for (const char* text : {"0", "000", "0g", "g0", " 0", "0 ", "0x", "-1", "+1", "\xff\xff", "G0",
                           "@0", "`0", "/0", ":0", "00\n"}) {
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
  }
  EXPECT_EQ(from_hex(std::string_view("0\0", 2)), std::nullopt);
}

TEST(HexText, IsNotDecodedIntoATooSmallBuffer) {
  std::array<unsigned char, 2> out{};
  EXPECT_EQ(decode_hex("a1b2", out), 2U);
  EXPECT_EQ(out[1], 0xb2);
  EXPECT_EQ(decode_hex("a1b2c3", out), std::nullopt);
  EXPECT_EQ(decode_hex("", {}), 0U);
}

}  // namespace
}  // namespace hapax
