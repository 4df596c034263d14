// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/rewrite.hpp"

#include <gtest/gtest.h>

namespace hapax::verify_detail {
namespace {

constexpr std::string_view kLoose = "{ \"a\" : [1,2 , {} ],\n\"b\":\"x, : {\\\"\" , \"c\":[ ]}";

TEST(RestyledJson, IsCompactPrettyOrSpaced) {
  EXPECT_EQ(restyled_json(kLoose, {"", "", 0}), R"({"a":[1,2,{}],"b":"x, : {\"","c":[]})");
  EXPECT_EQ(restyled_json(kLoose, {" ", " ", 0}), R"({"a": [1, 2, {}], "b": "x, : {\"", "c": []})");
  EXPECT_EQ(restyled_json(R"({"a":[1,{}],"b":2})", {"", " ", 2}),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": 2\n}");
  EXPECT_EQ(restyled_json("{}", {"", " ", 2}), "{}");
  EXPECT_EQ(restyled_json(" 1.50 ", {"", "", 0}), "1.50");
}

TEST(RestyledJson, IsNulloptForInvalidJson) {
  for (const std::string& text :
       {std::string("{"), std::string("}"), std::string("\"a"), std::string("[1]]"),
        std::string("\"\\"), std::string(300, '[') + std::string(300, ']')}) {
    EXPECT_EQ(restyled_json(text, {"", "", 0}), std::nullopt) << text;
  }
}

TEST(Replaced, ReplacesEveryOccurrence) {
  EXPECT_EQ(replaced("a/b//", "/", "\\/"), "a\\/b\\/\\/");
  EXPECT_EQ(replaced("", "x", "y"), "");
  EXPECT_EQ(replaced("aaa", "aa", "b"), "ba");
}

}  // namespace
}  // namespace hapax::verify_detail
