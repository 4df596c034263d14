// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/refetch.hpp"

#include <gtest/gtest.h>

namespace hapax::deliver {
namespace {

std::string url_of(const std::string& text, const std::string& body) {
  const Result<Refetch> refetch = Refetch::parse(text);
  if (!refetch) return refetch.error().detail();
  const Result<http::Url> url = refetch->url_for(body);
  return url ? url->to_string() : url.error().detail();
}

TEST(Refetch, FillsInFieldsOfTheEvent) {
  EXPECT_EQ(url_of("https://api.example.com/v1/orders/{json:/data/id}", R"({"data":{"id":"o_1"}})"),
            "https://api.example.com/v1/orders/o_1");
  EXPECT_EQ(url_of("http://h:81/{json:/a}/x/{json:/b}?c={json:/a}", R"({"a":7,"b":"y"})"),
            "http://h:81/7/x/y?c=7");
  EXPECT_EQ(url_of("http://h?id={json:/a}", R"({"a":1})"), "http://h/?id=1");
  EXPECT_EQ(url_of("http://h", "no json"), "http://h/");
}

TEST(Refetch, AValueStaysWithinItsSegment) {
  const std::string url = "https://h/o/{json:/a}/end";
  EXPECT_EQ(url_of(url, R"({"a":"../../x?y=1#z"})"), "https://h/o/..%2F..%2Fx%3Fy%3D1%23z/end");
  EXPECT_EQ(url_of(url, R"({"a":"a b\r\n%\u00e9@"})"), "https://h/o/a%20b%0D%0A%25%C3%A9%40/end");
  for (const char* step : {".", "..", ""}) {
    EXPECT_EQ(url_of(url, R"({"a":")" + std::string(step) + R"("})"),
              "json:/a cannot be part of a path");
  }
  EXPECT_EQ(url_of(url, R"({"a":")" + std::string(1025, 'x') + R"("})"),
            "json:/a cannot be part of a path");
}

TEST(Refetch, AMissingValueIsAnError) {
  EXPECT_EQ(url_of("http://h/{json:/a}", R"({"b":1})"), "json:/a is missing");
  EXPECT_EQ(url_of("http://h/{json:/a}", "<xml/>"), "json:/a is missing");
  EXPECT_EQ(url_of("http://h/{json:/a}", R"({"a":null})"), "json:/a cannot be part of a path");
  EXPECT_EQ(url_of("http://h/{json:/a}", R"({"a":{}})"), "json:/a cannot be part of a path");
}

TEST(Refetch, FieldsCannotChangeTheHost) {
  for (const char* text : {"https://{json:/host}/x", "https://h{json:/a}/", "{json:/url}",
                           "ftp://h/{json:/a}", "https://user:pw@h/{json:/a}", "http://h/{json:a}",
                           "http://h/{json:}", "http://h/{header:X}", "http://h/{json:/a",
                           "http://h/a}", "http://h/{json:/a}#x", "h/{json:/a}", ""}) {
    EXPECT_FALSE(Refetch::parse(text)) << text;
  }
}

}  // namespace
}  // namespace hapax::deliver
