// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "verify/canonical.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace hapax::verify_detail {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

std::optional<std::string> inflated(std::string_view body, std::size_t limit) {
  StringSink sink;
  if (!inflate_gzip(body, limit, sink)) return std::nullopt;
  return sink.text;
}

TEST(CanonicalForm, SortsFieldsAndKeepsOrDropsRepeats) {
  EXPECT_EQ(sorted_form("b=2&a=1&b=1&b=2", false), "a1b2b1b2");
  EXPECT_EQ(sorted_form("b=2&a=1&b=1&b=2", true), "a1b1b2");
  EXPECT_EQ(sorted_form("", true), "");
  EXPECT_EQ(sorted_form("B=1&a=2&%41=3", false), "A3B1a2") << "sorted by decoded bytes";
}

TEST(CanonicalQuery, SortsFieldsAndKeepsThemEncoded) {
  EXPECT_EQ(sorted_query("https://h/p?b=%20&a=1&b=2&&c#d=1"), "a=1&b=%20&b=2&c");
  EXPECT_EQ(sorted_query("https://h/p"), "");
  EXPECT_EQ(sorted_query("https://h/p?"), "");
}

TEST(CanonicalUrl, APortIsAddedOrRemoved) {
  EXPECT_EQ(url_with_port("https://h/p"), "https://h:443/p");
  EXPECT_EQ(url_with_port("http://h?x"), "http://h:80?x");
  EXPECT_EQ(url_with_port("https://h:8443/p"), "https://h:8443/p");
  EXPECT_EQ(url_without_port("https://h:8443/p:1"), "https://h/p:1");
  EXPECT_EQ(url_without_port("https://h/p"), "https://h/p");
  EXPECT_EQ(url_without_port("https://[::1]:80/p"), "https://[::1]/p");
  EXPECT_EQ(url_with_port("https://[::1]/p"), "https://[::1]:443/p");
  EXPECT_EQ(url_without_port("https://user:pass@h/p"), "https://user:pass@h/p");
  EXPECT_EQ(url_without_port("https://user:pass@h:1/p"), "https://user:pass@h/p");
  EXPECT_EQ(url_with_port("https://user:pass@h/p"), "https://user:pass@h:443/p");
  for (const char* odd : {"", "h/p", "/p?x=http://h:1/", "://"}) {
    if (std::string_view(odd).find("://") == std::string_view::npos) {
      EXPECT_EQ(url_with_port(odd), odd);
      EXPECT_EQ(url_without_port(odd), odd);
    }
  }
}

TEST(CanonicalPath, StartsAtTheFirstSlashAndEndsAtTheFragment) {
  EXPECT_EQ(path_of("https://h:1/a/b?c=d#e"), "/a/b?c=d");
  EXPECT_EQ(path_of("https://h"), "/");
  EXPECT_EQ(path_of("/a?b"), "/a?b");
  EXPECT_EQ(path_of(""), "/");
}

TEST(CanonicalUrl, HubspotDecodesOnlySomeCodes) {
  EXPECT_EQ(hubspot_url("https://h/%3A%2f%3F%40%21%24%27%28%29%2A%2C%3B"),
            "https://h/:/?@!$'()*,;");
  EXPECT_EQ(hubspot_url("%20%2B%25%41%"), "%20%2B%25%41%");
  EXPECT_EQ(hubspot_url("%3"), "%3");
  EXPECT_EQ(hubspot_url("%zz"), "%zz");
}

TEST(CanonicalUrl, PlivoSortsQueryAndForm) {
  EXPECT_EQ(plivo_url("GET", "https://h/p?b=2&a=1", ""), "https://h/p?a=1&b=2");
  EXPECT_EQ(plivo_url("GET", "https://h/p", ""), "https://h/p");
  EXPECT_EQ(plivo_url("POST", "https://h/p", "b=2&a=1"), "https://h/p?a1b2");
  EXPECT_EQ(plivo_url("POST", "https://h/p?x=1", "b=2&a=1"), "https://h/p?x=1.a1b2");
}

TEST(CanonicalJson, IsAsciiWithEscapes) {
  EXPECT_EQ(ascii_json("{\"a\":\"\xf0\x9f\x98\x80\xc3\xa9\"}"), R"({"a":"\ud83d\ude00\u00e9"})");
  EXPECT_EQ(ascii_json(R"("/ \/ \\/")"), R"("\/ \/ \\\/")");
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80"}) {
    EXPECT_EQ(ascii_json(bad), std::nullopt);
  }
}

TEST(CanonicalBody, IsDecompressedUpToALimit) {
  const std::string text(100'000, 'x');
  const std::string packed = gzip(text);
  EXPECT_EQ(inflated(packed, 100'000), text);
  EXPECT_EQ(inflated(packed, 99'999), std::nullopt);
  EXPECT_EQ(inflated(gzip(""), 0), "");
  EXPECT_EQ(inflated(packed + "x", 1'000'000), std::nullopt) << "trailing bytes";
  EXPECT_EQ(inflated(packed.substr(0, packed.size() - 1), 1'000'000), std::nullopt);
  EXPECT_EQ(inflated("", 10), std::nullopt);
  EXPECT_EQ(inflated("plain", 10), std::nullopt);
  EXPECT_EQ(inflated(packed + packed, 1'000'000), std::nullopt) << "a second member";
}

TEST(Crc32, IsWrittenInDecimal) {
  EXPECT_EQ(crc32_decimal(""), "0");
  EXPECT_EQ(crc32_decimal("123456789"), "3421780262");
}

}  // namespace
}  // namespace hapax::verify_detail
