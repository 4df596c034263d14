// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/utf8.hpp"

#include "base/json_text.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

// xterm and other terminals interpret U+009B as ESC [, and U+009D as ESC ].
TEST(Utf8, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[2J\n\x7f"), "a?[2J??");
  EXPECT_EQ(printable("a\nb\tc\r", "\n\t"), "a\nb\tc?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\x9d"
                      "0;title\xc2\x9c"),
            "\\u009b2J\\u009d0;title\\u009c");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "fdp.exe"),
            "\\u202efdp.exe");
  EXPECT_EQ(printable("\xe2\x81\xa6x\xe2\x80\xa8"), "\\u2066x\\u2028");
  EXPECT_EQ(printable("\x9b\xc2"), "??") << "also single bytes: some terminals do not use UTF-8";
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(Utf8, JsonFromAnyWriterIsNormalizedWithoutControlCharacters) {
  EXPECT_EQ(printable_json("{\"a\":\"\xc2\x9b\x7f\xe2\x80\xae\xc3\xa9\"}\n{}"),
            "{\"a\":\"\\u009b\\u007f\\u202e\xc3\xa9\"}\n{}");
}

TEST(Utf8, TheLogAndTheApiEscapeThem) {
  EXPECT_EQ(json_string("\xc2\x9b\xc2\x80\xe2\x80\xa9\xe2\x81\xa9\xc2\xa0"),
            "\"\\u009b\\u0080\\u2029\\u2069\xc2\xa0\"");
}

}  // namespace
}  // namespace hapax
