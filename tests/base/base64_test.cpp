// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/base64.hpp"

#include <gtest/gtest.h>

#include <array>

namespace hapax {
namespace {

TEST(Base64Text, MatchesTheExamplesOfTheStandard) {
  const std::array<std::array<std::string_view, 2>, 7> examples = {{{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
    std::string bare(text);
    while (bare.ends_with('=')) bare.pop_back();
    EXPECT_EQ(to_base64(bytes, Base64::url), bare);
    EXPECT_EQ(from_base64(bare, Base64::url), bytes);
  }
  EXPECT_EQ(to_base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(to_base64("\xfb\xff", Base64::url), "-_8");
}

TEST(Base64Text, AnyBytesRoundTrip) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(from_base64(to_base64(bytes, Base64::url), Base64::url), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Base64Text, NonCanonicalTextIsRejected) {
  for (const char* text :
       {"Zg",    "Zg=",    "Zg===", "Z===",    "====",  "=",        "==",       "Z",
        "Zm9vY", "Zm9v\n", " Zm9v", "Zm9v ",   "Zm 9v", "Zm9v====", "Zg==Zg==", "Z=9v",
        "=m9v",  "Zm9-",   "Zm9_",  "Zm9\xc3", "Zm9.",  "Zg==\n"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
  for (const char* text : {"Z", "Zm9vY", "Zg==", "Zm8=", "Zm9+", "Zm9/", "Zm9v\n", " Zm9v"}) {
    EXPECT_EQ(from_base64(text, Base64::url), std::nullopt) << text;
  }
  EXPECT_EQ(from_base64(std::string_view("Zm9\0", 4)), std::nullopt);
}

// Over all texts of up to four letters: a text is accepted exactly if the encoder produces it.
TEST(Base64Text, EveryValueHasOneEncoding) {
  const std::string_view letters = "AZaz059+/-_= \n";
  std::array<std::size_t, 4> at{};
  for (at[0] = 0; at[0] < letters.size(); ++at[0]) {
    for (at[1] = 0; at[1] < letters.size(); ++at[1]) {
      for (at[2] = 0; at[2] < letters.size(); ++at[2]) {
        for (at[3] = 0; at[3] < letters.size(); ++at[3]) {
          std::string text;
          for (const std::size_t i : at) text += letters[i];
          for (std::size_t size = 0; size <= 4; ++size) {
            for (const Base64 kind : {Base64::standard, Base64::url}) {
              const std::string part = text.substr(0, size);
              const auto bytes = from_base64(part, kind);
              if (bytes) {
                ASSERT_EQ(to_base64(*bytes, kind), part);
              }
            }
          }
        }
      }
    }
  }
}

TEST(Base64Text, IsNotDecodedIntoATooSmallBuffer) {
  std::array<unsigned char, 3> out{};
  EXPECT_EQ(decode_base64("Zm9v", Base64::standard, out), 3U);
  EXPECT_EQ(decode_base64("Zm9vYg==", Base64::standard, out), std::nullopt);
  EXPECT_EQ(decode_base64("", Base64::standard, {}), 0U);
  EXPECT_EQ(decode_base64("Zg==", Base64::standard, {}), std::nullopt);
}

}  // namespace
}  // namespace hapax
