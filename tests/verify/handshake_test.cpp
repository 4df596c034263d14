// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/verify.hpp>

#include "verify/keys.hpp"
#include "verify/parts.hpp"
#include "verify/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <fstream>

namespace hapax {
namespace {

namespace json = boost::json;
using test::kNow;
using test::OwnedRequest;

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// The certificate of the SNS signature vectors, which also verifies the SNS handshake.
std::string sns_certificate() {
  std::ifstream in(HAPAX_TEST_DATA "/signatures.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const json::object vector = json::parse(line).as_object();
    if (text_in(vector, "provider") == "aws-sns") return text_in(vector, "public_key");
  }
  return {};
}

// One line of handshakes.jsonl.
struct DocumentedHandshake {
  explicit DocumentedHandshake(const json::object& line)
      : preset(hapax::preset(text_in(line, "provider"))) {
    const json::object& asked = line.at("request").as_object();
    request.method = text_in(asked, "method");
    request.body = text_in(asked, "body");
    request.url = "https://hooks.example.com/in/x?" + text_in(asked, "query");
    if (const json::value* headers = asked.if_contains("headers")) {
      for (const auto& [name, value] : headers->as_object()) {
        request.headers.push_back({std::string(name), std::string(value.as_string())});
      }
    }
    for (const char* name : {"secret", "public_key"}) {
      if (line.contains(name)) secrets.push_back(text_in(line, name));
    }
    if (preset->name == "aws-sns") secrets = {sns_certificate()};  // the line has only a file name
    key_id = text_in(line, "key_id");
    kind = text_in(line, "kind");
    response = line.at("response").as_object();
  }

  std::optional<HandshakeAnswer> answer(std::span<const Header> parameters = {}) const {
    const OwnedRequest::View view = request.view();
    return answer_handshake(*preset, secrets, *view, kNow, {key_id, parameters});
  }

  const Preset* preset;
  std::string kind;
  OwnedRequest request;
  std::vector<std::string> secrets;
  std::string key_id;
  json::object response;
};

std::vector<DocumentedHandshake> documented_handshakes() {
  std::vector<DocumentedHandshake> all;
  std::ifstream in(HAPAX_TEST_DATA "/handshakes.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    all.emplace_back(json::parse(line).as_object());
  }
  return all;
}

DocumentedHandshake handshake_of(std::string_view name) {
  for (DocumentedHandshake& each : documented_handshakes()) {
    if (each.preset->name == name) return std::move(each);
  }
  throw std::out_of_range(std::string(name));
}

// The vector of Twitch has no signature and no secret; both are added here.
void sign(DocumentedHandshake& handshake) {
  handshake.secrets = {"s3cRe7-s3cRe7"};
  const OwnedRequest::View view = handshake.request.view();
  const Result<Signed> made =
      hapax::sign(handshake.preset->verify, handshake.secrets[0], *view, "id-1", kNow);
  ASSERT_TRUE(made);
  for (const OwnedHeader& each : made->headers) handshake.request.headers.push_back(each);
}

constexpr std::array<Header, 1> kVerifyToken = {{{"verify_token", "my_verify_token"}}};

std::optional<std::string> header_in(const HandshakeAnswer& answer, std::string_view name) {
  for (const OwnedHeader& each : answer.headers) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

void expect_documented_response(const DocumentedHandshake& handshake,
                                const HandshakeAnswer& answer) {
  EXPECT_EQ(answer.status, handshake.response.at("status").to_number<int>());
  EXPECT_EQ(answer.body, text_in(handshake.response, "body"));
  const std::string type = text_in(handshake.response, "content_type");
  if (!type.empty()) {
    EXPECT_EQ(answer.content_type, type.substr(0, type.find(' ')));
  }
  if (const json::value* headers = handshake.response.if_contains("headers")) {
    for (const auto& [name, value] : headers->as_object()) {
      EXPECT_EQ(header_in(answer, name), std::string(value.as_string())) << name;
    }
  }
  if (!answer.body.empty()) {
    EXPECT_EQ(header_in(answer, "X-Content-Type-Options"), "nosniff");
  }
}

TEST(Handshake, EveryDocumentedHandshakeIsAnswered) {
  std::size_t answered = 0;
  for (DocumentedHandshake& handshake : documented_handshakes()) {
    SCOPED_TRACE(std::string(handshake.preset->name) + " " + handshake.kind);
    if (handshake.preset->name == "xero") continue;  // not a handshake: see the next test
    if (handshake.preset->name == "twitch") sign(handshake);
    const auto answer = handshake.answer(kVerifyToken);
    ASSERT_TRUE(answer);
    expect_documented_response(handshake, *answer);
    ++answered;
  }
  EXPECT_EQ(answered, 16U);
}

TEST(Handshake, XeroSendsAnOrdinaryRequest) {
  std::vector<int> statuses;
  for (const DocumentedHandshake& handshake : documented_handshakes()) {
    if (handshake.preset->name != "xero") continue;
    EXPECT_FALSE(handshake.answer());
    const OwnedRequest::View view = handshake.request.view();
    const Result<Verdict> verdict = verify(handshake.preset, handshake.secrets, *view, kNow);
    ASSERT_TRUE(verdict);
    statuses.push_back(http_status(verdict->reason));
    EXPECT_EQ(statuses.back(), handshake.response.at("status").to_number<int>());
  }
  EXPECT_THAT(statuses, testing::ElementsAre(200, 401));
}

TEST(Handshake, SignedHandshakesNeedAValidSignature) {
  for (const char* name : {"slack", "discord", "zoom", "aws-sns", "twitch"}) {
    SCOPED_TRACE(name);
    DocumentedHandshake handshake = handshake_of(name);
    if (handshake.preset->name == "twitch") sign(handshake);
    ASSERT_TRUE(handshake.answer());
    // An additional space, which changes no value.
    DocumentedHandshake forged = handshake;
    if (forged.preset->name == "aws-sns") {
      forged.request.body.replace(forged.request.body.find("You have"), 8, "You hath");
    } else {
      forged.request.body += ' ';
    }
    EXPECT_FALSE(forged.answer());
    DocumentedHandshake without = handshake;
    without.request.headers.clear();
    without.secrets.clear();
    EXPECT_FALSE(without.answer());
  }
}

TEST(Handshake, DiscordsWebhookEventsGetAResponseWithoutABody) {
  const test::KeyPair key = test::make_ed25519();
  OwnedRequest request{.url = "https://h/"};
  request.body = R"({"type":0})";
  {
    const OwnedRequest::View view = request.view();
    const auto made = sign(preset("discord")->verify, key.private_pem, *view, "", kNow);
    ASSERT_TRUE(made);
    request.headers = made->headers;
  }
  const std::vector<std::string> secrets = {key.public_pem};
  const OwnedRequest::View view = request.view();
  const auto answer = answer_handshake(*preset("discord"), secrets, *view, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->body, "");
}

TEST(Handshake, ZoomsResponseUsesTheMatchingSecret) {
  DocumentedHandshake handshake = handshake_of("zoom");
  const auto answer = handshake.answer();
  handshake.secrets.insert(handshake.secrets.begin(), "the next secret");
  ASSERT_TRUE(handshake.answer());
  EXPECT_EQ(handshake.answer()->body, answer->body);
}

// Challenges that must not be echoed.

OwnedRequest get(const std::string& query) {
  return {.method = "GET", .url = "https://hooks.example.com/in/x?" + query};
}

std::optional<HandshakeAnswer> ask(std::string_view name, const OwnedRequest& request,
                                   std::span<const Header> parameters = {}) {
  const std::vector<std::string> secrets = {"secret"};
  const OwnedRequest::View view = request.view();
  return answer_handshake(*preset(name), secrets, *view, kNow, {"key", parameters});
}

std::vector<std::string> invalid_challenges() {
  return {"",        std::string(1025, 'a'),
          "a%0Ab",   "a%0D%0ASet-Cookie:x=1",
          "%00",     "%C3%A9",
          "%7F",     "%3Cscript%3Ealert(1)%3C/script%3E",
          "a%3Eb%3C"};
}

TEST(Handshake, QueryChallengesAreEchoedOnlyIfShortAndPlain) {
  for (const std::string& challenge : invalid_challenges()) {
    SCOPED_TRACE(challenge.substr(0, 40));
    EXPECT_FALSE(ask("dropbox", get("challenge=" + challenge)));
    EXPECT_FALSE(ask("nylas", get("challenge=" + challenge)));
    EXPECT_FALSE(
        ask("meta", get("hub.mode=subscribe&hub.verify_token=t&hub.challenge=" + challenge)));
    OwnedRequest graph = get("validationToken=" + challenge);
    graph.method = "POST";
    EXPECT_FALSE(ask("microsoft-graph", graph));
    EXPECT_FALSE(ask("x-twitter", get("crc_token=" + challenge)));
  }
  EXPECT_TRUE(ask("dropbox", get("challenge=" + std::string(1024, 'a'))));
  EXPECT_FALSE(ask("dropbox", get("challenge=a&challenge=b"))) << "a repeated parameter";
}

TEST(Handshake, HeaderChallengesAreEchoedOnlyIfShortAndPlain) {
  for (const std::string& challenge :
       {std::string(), std::string(1025, 'a'), std::string("a\nb"), std::string("\xff"),
        std::string("<b>"), std::string("\0", 1)}) {
    OwnedRequest request = get("");
    request.headers = {{"x-okta-verification-challenge", challenge}};
    EXPECT_FALSE(ask("okta", request));
    request.method = "POST";
    request.headers = {{"X-Hook-Secret", challenge}};
    EXPECT_FALSE(ask("asana", request));
  }
}

TEST(Handshake, AJsonResponseIsEscaped) {
  OwnedRequest request = get("");
  request.headers = {{"x-okta-verification-challenge", R"(a"b\c)"}};
  const auto answer = ask("okta", request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, R"({"verification":"a\"b\\c"})");
}

TEST(Handshake, MetaWithAnotherTokenIsForbidden) {
  const std::string query = "hub.mode=subscribe&hub.challenge=1&hub.verify_token=";
  for (const std::string& token : {std::string(), std::string("my_verify_toke"),
                                   std::string("my_verify_token2"), std::string("other")}) {
    const auto answer = ask("meta", get(query + token), kVerifyToken);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 403);
    EXPECT_EQ(answer->body, "");
  }
  const auto unconfigured = ask("meta", get(query + "my_verify_token"));
  ASSERT_TRUE(unconfigured);
  EXPECT_EQ(unconfigured->status, 403) << "without a configured token none is valid";
  const std::array<Header, 1> empty = {{{"verify_token", ""}}};
  EXPECT_EQ(ask("meta", get(query), empty)->status, 403);
}

TEST(Handshake, TwittersResponseCannotSignAnEvent) {
  EXPECT_TRUE(ask("x-twitter", get("crc_token=MDk4N2Q4-_.%2B/=")));
  EXPECT_FALSE(ask("x-twitter", get("crc_token=%7B%22for_user_id%22%3A%221%22%7D")));
  EXPECT_FALSE(ask("x-twitter", get("crc_token=%5B1%5D")));
}

TEST(Handshake, BraintreesResponseSignsOnlyHexadecimal) {
  EXPECT_TRUE(ask("braintree", get("bt_challenge=0123456789abcdef0123")));
  EXPECT_FALSE(ask("braintree", get("bt_challenge=0123456789ABCDEF0123")));
  EXPECT_FALSE(ask("braintree", get("bt_challenge=0123456789abcdef012")));
  EXPECT_FALSE(ask("braintree", get("bt_challenge=" + std::string(33, 'a'))));
}

TEST(Handshake, ASignedNotionRequestIsNotAHandshake) {
  DocumentedHandshake handshake = handshake_of("notion");
  const auto answer = handshake.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->secret, "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl");
  handshake.request.headers.push_back({"X-Notion-Signature", "sha256=00"});
  EXPECT_FALSE(handshake.answer());
}

TEST(Handshake, SnsReturnsTheConfirmationUrl) {
  const auto answer = handshake_of("aws-sns").answer();
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->confirm_url, testing::StartsWith("https://sns.us-west-2.amazonaws.com/?"));
}

TEST(SnsUrl, AcceptsOnlyUrlsOfAmazon) {
  using verify_detail::is_sns_url;
  EXPECT_TRUE(is_sns_url("https://sns.us-east-1.amazonaws.com/x.pem"));
  EXPECT_TRUE(is_sns_url("https://sns.cn-north-1.amazonaws.com.cn/x.pem"));
  for (const char* url : {"http://sns.us-east-1.amazonaws.com/x.pem",
                          "https://sns.us-east-1.amazonaws.com.evil.io/",
                          "https://sns.us-east-1.amazonaws.com@evil.io/",
                          "https://evil.io/sns.us-east-1.amazonaws.com",
                          "https://sns.us-east-1.amazonaws.com:8080/",
                          "https://evil.io#sns.us-east-1.amazonaws.com/",
                          "https://sns.us-east-1.amazonaws.com\\@evil.io/",
                          "https://snsxus-east-1.amazonaws.com/",
                          "https://sns.evil.io/.amazonaws.com",
                          "https://sns.a.b.amazonaws.com/",
                          "https://sns..amazonaws.com/",
                          "https://sns.us.amazonaws.com/",
                          "https://s3.amazonaws.com/",
                          "https://sns.us-east-1.amazonaws.comx/",
                          "https://sns.us-east-1.amazonaws.co/",
                          "https://sns.us-east-1.amazonaws.com?.pem",
                          "https://sns.us-east-1.amazonaws.com#.pem",
                          "https://sns.us_east_1.amazonaws.com/",
                          " https://sns.us-east-1.amazonaws.com/",
                          "https://sns.us-east-1.amazonaws.com/\r\nHost: evil.io",
                          "https://sns.us-east-1.amazonaws.com/ HTTP/1.0",
                          "HTTPS://sns.us-east-1.amazonaws.com/",
                          "https://bucket.s3.sns.us-east-1.amazonaws.com/",
                          "https://sns.us-east-1.amazonaws.com.cn.io/",
                          "https://user:sns.us-east-1.amazonaws.com/",
                          ""}) {
    EXPECT_FALSE(is_sns_url(url)) << url;
  }
}

TEST(Handshake, AnOrdinaryRequestIsNotAHandshake) {
  for (const Preset& each : presets()) {
    OwnedRequest request{.url = "https://h/"};
    request.body = R"({"id":"evt_1","type":"x"})";
    EXPECT_FALSE(ask(each.name, request)) << each.name;
  }
}

}  // namespace
}  // namespace hapax
