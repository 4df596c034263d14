// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/headers.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using namespace std::string_view_literals;

TEST(Headers, RoundTripInOrderWithRepeatedNamesAndAnyBytes) {
  const std::string longer(70'000, 'x');
  const std::vector<Header> headers{{"D", std::string_view(longer).substr(0, 127)},
                                    {"E", std::string_view(longer).substr(0, 128)},
                                    {"F", longer},
                                    {"A", "1"},
                                    {"a", "2"},
                                    {"A", "1"},
                                    {"", ""},
                                    {"B", ""},
                                    {"C", "\0\xff\r\n"sv},
                                    {"\xc3\xa9", "long"}};
  const std::string stored = encode_headers(headers);
  const auto read = decode_headers(stored);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), headers.size());
  for (std::size_t i = 0; i < headers.size(); ++i) {
    EXPECT_EQ(read->at(i).name, headers[i].name);
    EXPECT_EQ(read->at(i).value, headers[i].value);
  }
}

TEST(Headers, NoHeadersEncodeToNothing) {
  EXPECT_EQ(encode_headers({}), "");
  ASSERT_TRUE(decode_headers(""));
  EXPECT_TRUE(decode_headers("")->empty());
}

TEST(Headers, TruncatedInputIsRejected) {
  const Header header{"Name", "value"};
  const std::string stored = encode_headers(std::span(&header, 1));
  for (std::size_t size = 1; size < stored.size(); ++size) {
    EXPECT_FALSE(decode_headers(std::string_view(stored).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_headers("\xff\xff\xff\xff"sv));
  EXPECT_FALSE(decode_headers("\0"sv)) << "a name without a value";
  EXPECT_FALSE(decode_headers("\x80\0\0"sv)) << "a length with a digit too many";
}

TEST(Headers, AnyBytesAreDecodedSafely) {
  test::SeededRandom random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(40), '\0');
    random.fill({reinterpret_cast<unsigned char*>(text.data()), text.size()});
    for (char& c : text) c = random.below(3) == 0 ? c : '\0';
    const auto read = decode_headers(text);
    EXPECT_TRUE(!read || encode_headers(*read) == text);
  }
}

}  // namespace
}  // namespace hapax
