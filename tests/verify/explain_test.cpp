// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The usual mistakes, made on purpose: explain() must find each of them.
#include "base/base64.hpp"
#include "base/hex.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hapax {
namespace {

using test::kNow;
using test::OwnedRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kSecret = "the secret of this test";

OwnedRequest signed_by(std::string_view preset_name, const std::string& secret,
                       const std::string& body, WallTime at = kNow,
                       const std::string& url = "https://hooks.example.com/in/x") {
  OwnedRequest request{.url = url};
  request.body = body;
  const OwnedRequest::View view = request.view();
  const Result<Signed> made = sign(preset(preset_name)->verify, secret, *view, "id-1", at);
  EXPECT_TRUE(made) << made.error().to_string();
  request.headers = made->headers;
  return request;
}

std::vector<std::string> explained(std::string_view preset_name, const std::string& secret,
                                   const OwnedRequest& request) {
  const OwnedRequest::View view = request.view();
  const std::vector<std::string> secrets = {secret};
  return explain(preset(preset_name)->verify, secrets, *view, kNow);
}

// The explanations for a request signed with body `sent` and received with body `got`.
std::vector<std::string> after_change(const std::string& sent, const std::string& got) {
  OwnedRequest request = signed_by("stripe", kSecret, sent);
  request.body = got;
  return explained("stripe", kSecret, request);
}

TEST(Explain, ReportsNothingForAValidRequest) {
  EXPECT_THAT(explained("stripe", kSecret, signed_by("stripe", kSecret, "{}")), IsEmpty());
}

TEST(Explain, FindsReformattedJson) {
  const std::string compact = R"({"id":"evt_1","list":[1,2],"url":"https://a/b"})";
  const std::string two =
      "{\n  \"id\": \"evt_1\",\n  \"list\": [\n    1,\n    2\n  ],\n  \"url\": \"https://a/b\"\n}";
  const std::string spaced = R"({"id": "evt_1", "list": [1, 2], "url": "https://a/b"})";
  EXPECT_THAT(after_change(compact, two), Contains(HasSubstr("the same JSON compact")));
  EXPECT_THAT(after_change(compact, spaced), Contains(HasSubstr("the same JSON compact")));
  EXPECT_THAT(after_change(two, compact), Contains(HasSubstr("pretty-printed with two spaces")));
  EXPECT_THAT(after_change(spaced, compact),
              Contains(HasSubstr("a space after commas and colons")));
}

TEST(Explain, FindsChangedEscapes) {
  EXPECT_THAT(after_change(R"({"url":"https:\/\/a"})", R"({"url":"https://a"})"),
              Contains(HasSubstr("slashes escaped")));
  EXPECT_THAT(after_change(R"({"url":"https://a"})", R"({"url":"https:\/\/a"})"),
              Contains(HasSubstr("slashes not escaped")));
  EXPECT_THAT(after_change(R"({"name":"Zo\u00eb"})", "{\"name\":\"Zo\xc3\xab\"}"),
              Contains(HasSubstr("\\u escapes")));
}

TEST(Explain, FindsAnAddedOrRemovedLineBreak) {
  EXPECT_THAT(after_change("{}", "{}\n"), Contains(HasSubstr("A line break was appended")));
  EXPECT_THAT(after_change("{}", "{}\r\n"), Contains(HasSubstr("A line break was appended")));
  EXPECT_THAT(after_change("{}\n", "{}"),
              Contains(HasSubstr("final line break of the body was removed")));
  EXPECT_THAT(after_change("{}\r\n", "{}"),
              Contains(HasSubstr("final line break of the body was removed")));
}

TEST(Explain, FindsConvertedLineEnds) {
  EXPECT_THAT(after_change("a\nb", "a\r\nb"), Contains(HasSubstr("from LF to CRLF")));
  EXPECT_THAT(after_change("a\r\nb", "a\nb"), Contains(HasSubstr("from CRLF to LF")));
}

TEST(Explain, FindsAByteOrderMark) {
  EXPECT_THAT(after_change("{}", "\xef\xbb\xbf{}"),
              Contains(HasSubstr("byte order mark was prepended")));
  EXPECT_THAT(after_change("\xef\xbb\xbf{}", "{}"),
              Contains(HasSubstr("byte order mark of the body, which was signed, was removed")));
}

TEST(Explain, FindsASecretInAnotherEncoding) {
  const std::string bytes = "twenty-four bytes of key";
  const std::string encoded = to_base64(bytes);
  // Standard Webhooks decodes the secret; Polar uses its text.
  EXPECT_THAT(explained("standard-webhooks", "whsec_" + encoded,
                        signed_by("polar", "whsec_" + encoded, "{}")),
              Contains(HasSubstr("as text, whole")));
  EXPECT_THAT(explained("polar", "whsec_" + encoded,
                        signed_by("standard-webhooks", "whsec_" + encoded, "{}")),
              Contains(HasSubstr("as base64, without whsec_")));
  EXPECT_THAT(explained("github", encoded, signed_by("github", bytes, "{}")),
              Contains(HasSubstr("as base64")));
  EXPECT_THAT(explained("github", to_hex(bytes), signed_by("github", bytes, "{}")),
              Contains(HasSubstr("as hexadecimal")));
}

TEST(Explain, FindsAMissingOrExtraPrefixOfTheSecret) {
  EXPECT_THAT(explained("stripe", kSecret, signed_by("stripe", "whsec_" + kSecret, "{}")),
              Contains(HasSubstr("lacks its prefix whsec_")));
  EXPECT_THAT(explained("stripe", "whsec_" + kSecret, signed_by("stripe", kSecret, "{}")),
              Contains(HasSubstr("as text, without whsec_")));
}

TEST(Explain, FindsASecretWithWhitespace) {
  const OwnedRequest request = signed_by("stripe", kSecret, "{}");
  for (const std::string& stray : {kSecret + "\n", " " + kSecret, kSecret + "\r\n"}) {
    EXPECT_THAT(explained("stripe", stray, request),
                Contains(HasSubstr("leading or trailing spaces or a line break")));
  }
}

TEST(Explain, FindsAWrongClock) {
  EXPECT_THAT(explained("stripe", kSecret,
                        signed_by("stripe", kSecret, "{}", kNow - std::chrono::seconds(1234))),
              ElementsAre(HasSubstr("1234 s ago")));
  EXPECT_THAT(explained("stripe", kSecret,
                        signed_by("stripe", kSecret, "{}", kNow + std::chrono::seconds(4321))),
              ElementsAre(HasSubstr("4321 s ahead")));
}

TEST(Explain, FindsTheSchemeOfAnotherSender) {
  // The signature is in a header of another name: Svix's instead of Standard Webhooks'.
  const std::string secret = "whsec_" + to_base64("0123456789abcdef01234567");
  EXPECT_THAT(explained("standard-webhooks", secret, signed_by("clerk", secret, "{}")),
              AllOf(Contains(HasSubstr("header 'webhook-signature'")),
                    Contains(HasSubstr("The signature matches with preset 'clerk'"))));
  // The same header, another hash.
  EXPECT_THAT(explained("bitbucket", kSecret, signed_by("intercom", kSecret, "{}")),
              Contains(HasSubstr("The signature matches with preset 'intercom'")));
}

TEST(Explain, NamesPresetsWithMatchingHeaders) {
  OwnedRequest request = signed_by("github", "another secret", "{}");
  EXPECT_THAT(explained("stripe", kSecret, request),
              Contains(HasSubstr("signature headers of these presets: github")));
}

TEST(Explain, FindsAUrlThatDiffersFromTheCalledOne) {
  const auto received_at = [](const std::string& signed_url, const std::string& url) {
    OwnedRequest request = signed_by("square", kSecret, "{}", kNow, signed_url);
    request.url = url;
    return explained("square", kSecret, request);
  };
  EXPECT_THAT(received_at("https://h/x", "http://h/x"), Contains(HasSubstr("https://h/x")));
  EXPECT_THAT(received_at("http://h/x", "https://h/x"), Contains(HasSubstr("http://h/x")));
  EXPECT_THAT(received_at("https://h/x", "https://h:8443/x"), Contains(HasSubstr("public_url")));
  EXPECT_THAT(received_at("https://h/x", "https://h/x?a=1"), Contains(HasSubstr("public_url")));
  EXPECT_THAT(received_at("https://h/x/", "https://h/x"), Contains(HasSubstr("https://h/x/")));
}

TEST(Explain, ReportsAWrongSecretIfNothingElseMatches) {
  EXPECT_THAT(explained("stripe", kSecret, signed_by("stripe", "another", "{}")),
              ElementsAre(HasSubstr("the secret belongs to another endpoint")));
}

TEST(Explain, ReportsUnsupportedSettings) {
  EXPECT_THAT(explained("standard-webhooks", "not base64!", OwnedRequest{.url = "https://h/"}),
              ElementsAre(HasSubstr("must be written in base64")));
}

TEST(Explain, ReportsMalformedInput) {
  OwnedRequest request = signed_by("stripe", kSecret, "{}");
  request.headers.push_back(request.headers.front());
  EXPECT_THAT(explained("stripe", kSecret, request), ElementsAre(HasSubstr("twice")));
}

}  // namespace
}  // namespace hapax
