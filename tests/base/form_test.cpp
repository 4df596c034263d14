// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/form.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax {
namespace {

using namespace std::string_literals;
using Fields = std::vector<std::pair<std::string, std::string>>;

Fields parsed(std::string_view text) {
  Fields fields;
  const std::optional<std::vector<FormField>> form = parse_form(text);
  EXPECT_TRUE(form);
  for (const FormField& field : form.value()) fields.emplace_back(field.name, field.value);
  return fields;
}

std::string encoded(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789aBcDeF";
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += '%';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

TEST(Form, KeepsOrderAndRepeats) {
  EXPECT_EQ(parsed("b=2&a=1&b=3"), (Fields{{"b", "2"}, {"a", "1"}, {"b", "3"}}));
}

TEST(Form, PlusIsASpaceAndPercentIsAByte) {
  EXPECT_EQ(parsed("a+b=c+d%2B%20"), (Fields{{"a b", "c d+ "}}));
  EXPECT_EQ(parsed("%61=%e2%82%AC"), (Fields{{"a", "\xe2\x82\xac"}}));
  EXPECT_EQ(parsed("a=%00"), (Fields{{"a", "\0"s}}));
}

TEST(Form, APercentWithoutTwoDigitsIsLiteral) {
  EXPECT_EQ(parsed("a=%"), (Fields{{"a", "%"}}));
  EXPECT_EQ(parsed("a=%4"), (Fields{{"a", "%4"}}));
  EXPECT_EQ(parsed("a=%zz%4g%"), (Fields{{"a", "%zz%4g%"}}));
  EXPECT_EQ(parsed("a=%%41"), (Fields{{"a", "%A"}}));
  EXPECT_EQ(parsed("a=%2&b=1"), (Fields{{"a", "%2"}, {"b", "1"}}));
}

TEST(Form, AFieldWithoutEqualsHasAnEmptyValueAndEmptyFieldsAreSkipped) {
  EXPECT_EQ(parsed("a"), (Fields{{"a", ""}}));
  EXPECT_EQ(parsed("a="), (Fields{{"a", ""}}));
  EXPECT_EQ(parsed("=a"), (Fields{{"", "a"}}));
  EXPECT_EQ(parsed("="), (Fields{{"", ""}}));
  EXPECT_EQ(parsed("a=b=c"), (Fields{{"a", "b=c"}}));
  EXPECT_EQ(parsed(""), Fields{});
  EXPECT_EQ(parsed("&&&"), Fields{});
  EXPECT_EQ(parsed("&a=1&&b=2&"), (Fields{{"a", "1"}, {"b", "2"}}));
}

TEST(Form, AnyBytesArePreserved) {
  EXPECT_EQ(parsed("a=\xff\xfe\0b"s), (Fields{{"a", "\xff\xfe\0b"s}}));
}

TEST(Form, MoreFieldsThanTheLimitAreRejected) {
  std::string text;
  for (std::size_t i = 0; i < kMaxFormFields; ++i) text += "a=1&";
  ASSERT_TRUE(parse_form(text));
  EXPECT_EQ(parse_form(text)->size(), kMaxFormFields);
  EXPECT_TRUE(find_in_form(text, "b"));
  text += "b=2";
  EXPECT_FALSE(parse_form(text));
  EXPECT_FALSE(find_in_form(text, "b"));
}

TEST(Form, AFieldIsFoundByItsDecodedName) {
  EXPECT_TRUE(find_in_form("x=1&%61+b=c%2B", "a b")->found);
  EXPECT_EQ(find_in_form("x=1&%61+b=c%2B", "a b")->value, "c+");
  EXPECT_FALSE(find_in_form("x=1", "y")->found);
  EXPECT_FALSE(find_in_form("xy=1", "x")->found);
  EXPECT_FALSE(find_in_form("%78%=1", "x")->found);
  EXPECT_FALSE(find_in_form("", "x")->found);
}

TEST(Form, ARepeatedFieldIsFoundInAnyEncoding) {
  EXPECT_TRUE(find_in_form("id=1&%69%64=2", "id")->repeated);
  EXPECT_TRUE(find_in_form("id&id", "id")->repeated);
  EXPECT_FALSE(find_in_form("id=1&ID=2", "id")->repeated);
}

TEST(Form, EveryNameAndValueRoundTrips) {
  test::SeededRandom random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string name(1 + random.below(20), '\0');
    std::string value(random.below(20), '\0');
    random.fill({reinterpret_cast<unsigned char*>(name.data()), name.size()});
    random.fill({reinterpret_cast<unsigned char*>(value.data()), value.size()});
    const std::string text = "x=1&" + encoded(name) + "=" + encoded(value);
    ASSERT_EQ(parsed(text), (Fields{{"x", "1"}, {name, value}}));
    ASSERT_TRUE(name == "x" || find_in_form(text, name)->value == value);
    ASSERT_EQ(percent_decode(encoded(value)), value);
  }
}

TEST(Query, IsBetweenTheFirstMarkAndTheFragment) {
  EXPECT_EQ(query_of("https://h.example/in/x?a=1&b=2"), "a=1&b=2");
  EXPECT_EQ(query_of("/in/x?a=1#b?c"), "a=1");
  EXPECT_EQ(query_of("/in/x?a?b"), "a?b");
  EXPECT_EQ(query_of("/in/x?"), "");
  EXPECT_EQ(query_of("/in/x"), "");
  EXPECT_EQ(query_of("/in/x#a?b=1"), "");
  EXPECT_EQ(query_of(""), "");
}

TEST(PercentDecode, DoesNotDecodePlus) {
  EXPECT_EQ(percent_decode("a+b%20c%2"), "a+b c%2");
  EXPECT_EQ(percent_decode("%25%34%31"), "%41");
}

}  // namespace
}  // namespace hapax
