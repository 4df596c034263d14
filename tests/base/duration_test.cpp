// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, AcceptsANumberAndAUnit) {
  EXPECT_EQ(parse_duration("500ms").value(), 500ms);
  EXPECT_EQ(parse_duration("30s").value(), 30s);
  EXPECT_EQ(parse_duration("10m").value(), 10min);
  EXPECT_EQ(parse_duration("24h").value(), 24h);
  EXPECT_EQ(parse_duration("30d").value(), 720h);
  EXPECT_EQ(parse_duration("0s").value(), 0s);
}

TEST(ParseDuration, RejectsAnyOtherFormat) {
  for (const char* text : {"", "30", "s", "-1s", "+1s", " 1s", "1s ", "1.5h", "1 s", "1S", "1w",
                           "1h30m", "99999999999999999999s", "9223372036854775807d"}) {
    const Result<std::chrono::milliseconds> parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), Code::invalid_argument);
  }
}

}  // namespace
}  // namespace hapax
