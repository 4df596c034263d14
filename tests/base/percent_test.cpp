// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/percent.hpp"

#include "base/form.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

std::string all_bytes() {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  return all;
}

TEST(Percent, KeepsLettersDigitsAndMarks) {
  EXPECT_EQ(percent_encoded_but("-_.", "aZ09-_./~ %"), "aZ09-_.%2F%7E%20%25");
  EXPECT_EQ(percent_encoded_but("", "-\xc3\xbf"), "%2D%C3%BF");
}

TEST(Percent, EncodedNamesRoundTrip) {
  const auto nothing = [](char) { return false; };
  EXPECT_EQ(percent_encoded(all_bytes(), nothing).size(), 3U * 256);
  EXPECT_EQ(percent_decode(percent_encoded(all_bytes(), nothing)), all_bytes());
  EXPECT_EQ(percent_decode(percent_encoded_but("-._~", all_bytes())), all_bytes());
}

}  // namespace
}  // namespace hapax
