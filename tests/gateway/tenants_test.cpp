// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

// Tenants, time windows, redaction and public URLs, with a real server.
namespace hapax::test {

namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOne = "whsec_b25lLW9uZS1vbmUtb25lLW9uZS1vbmU=";
constexpr const char* kTwo = "whsec_dHdvLXR3by10d28tdHdvLXR3by10d28=";

const std::string kTenants =
    "[[source]]\nname = \"shop\"\npreset = \"standard-webhooks\"\ndeliver_to = [\"work\"]\n"
    "[[source.tenant]]\nname = \"acme\"\nsecrets = [\"" +
    std::string(kOne) + "\"]\n[[source.tenant]]\nname = \"b.corp_2-x\"\nsecrets = [\"" +
    std::string(kTwo) + "\"]\n";

std::vector<OwnedHeader> headers_of(const std::string& secret, std::string_view body,
                                    std::string_view id) {
  return signed_headers("standard-webhooks", secret, body, id);
}

class TenantsTest : public testing::Test {
 protected:
  static constexpr const char* kBody = R"({"type":"a","account":"x"})";

  HttpAnswer post(const std::string& path, const std::string& secret, const std::string& id) {
    return RawClient(serve_.port()).post(path, headers_of(secret, kBody, id), kBody);
  }
  std::string admin(const std::string& target) {
    std::ifstream file(serve_.file("admin.token"));
    std::string token;
    std::getline(file, token);
    return RawClient(serve_.admin_port()).get(target, {{"Authorization", "Bearer " + token}}).body;
  }

  Serve serve_{demo_config("sqlite:hapax.db") + kTenants +
               "[[source]]\nname = \"by-content\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
               kOne + "\"]\ntenant = \"json:/account\"\n"};
};

TEST_F(TenantsTest, OneIdOfTwoTenantsIsTwoEvents) {
  EXPECT_THAT(post("/in/shop/acme", kOne, "1").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(post("/in/shop/b.corp_2-x", kTwo, "1").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(post("/in/shop/acme", kOne, "1").body, HasSubstr("\"duplicate\":true"));
  const std::string list = admin("/v1/events?source=shop&tenant=acme");
  EXPECT_THAT(list, HasSubstr("\"tenant\":\"acme\""));
  EXPECT_THAT(list, Not(HasSubstr("b.corp")));
  EXPECT_THAT(admin("/v1/sources"), HasSubstr(R"("tenants":["acme","b.corp_2-x"])"));
  EXPECT_THAT(
      admin("/metrics"),
      HasSubstr(R"(hapax_arrivals_total{outcome="accepted",source="shop",tenant="acme"} 1)"));
}

TEST_F(TenantsTest, ACapturedRequestIsInvalidForOtherPaths) {
  const auto captured = headers_of(kOne, kBody, "1");
  const auto post_to = [&](const std::string& path) {
    return RawClient(serve_.port()).post(path, captured, kBody);
  };
  EXPECT_EQ(post_to("/in/shop/acme").status, 200);
  EXPECT_EQ(post_to("/in/shop/b.corp_2-x").problem(), "signature-invalid");
  EXPECT_EQ(post_to("/in/demo").problem(), "signature-invalid");
  EXPECT_EQ(post_to("/in/shop").problem(), "tenant-unknown");
}

TEST_F(TenantsTest, UnknownTenantsAreRejected) {
  const std::vector<std::string> tenants = {"",
                                            "/",
                                            "nobody",
                                            "ACME",
                                            "acme/",
                                            "acme/x",
                                            "%61cme",
                                            "acme%2f",
                                            "acme%2F..",
                                            "..",
                                            "../demo",
                                            ".",
                                            "%2e%2e",
                                            "acme%00",
                                            "\xc3\xa9",
                                            "\xff\xfe",
                                            std::string(128, 'a'),
                                            std::string(129, 'a'),
                                            "acme;x=1"};
  for (const std::string& each : tenants) {
    const HttpAnswer answer = post("/in/shop/" + each, kOne, "odd");
    EXPECT_EQ(answer.status, 404) << each;
    EXPECT_EQ(answer.problem(), "tenant-unknown") << each;
  }
  EXPECT_EQ(post("/in/demo/acme", kDemoSecret, "odd").problem(), "tenant-unknown");
  EXPECT_EQ(post("/in/nobody/acme", kOne, "odd").problem(), "source-unknown");
  EXPECT_TRUE(StoreView("sqlite:" + serve_.file("hapax.db")).bodies().empty());
}

TEST_F(TenantsTest, ATenantCanBeReadFromSignedContent) {
  const auto post_with = [&](const std::string& account) {
    const std::string body = "{\"account\":" + account + "}";
    return RawClient(serve_.port()).post("/in/by-content", headers_of(kOne, body, "1"), body);
  };
  EXPECT_THAT(post_with("\"x\"").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(post_with("\"y\"").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(post_with("\"y\"").body, HasSubstr("\"duplicate\":true"));
  EXPECT_THAT(post_with("\"\xc3\xa9/..\"").body, HasSubstr("\"duplicate\":false"));
  EXPECT_THAT(post_with("\"" + std::string(128, 'a') + "\"").body,
              HasSubstr("\"duplicate\":false"));
  EXPECT_EQ(post_with("\"" + std::string(129, 'a') + "\"").problem(), "id-missing");
  EXPECT_EQ(post_with("\"\"").problem(), "id-missing");
  EXPECT_EQ(post_with("null").problem(), "id-missing");
  EXPECT_EQ(post_with("\"x\",\"account\":\"y\"").problem(), "id-ambiguous");
  EXPECT_THAT(admin("/v1/events?source=by-content&tenant=%C3%A9%2F.."), HasSubstr("\"event\""));
}

TEST_F(TenantsTest, ACapturedRequestIsRejectedAfterTheWindow) {
  const Preset* row = preset("standard-webhooks");
  const auto signed_at = [&](std::chrono::seconds ago) {
    const WallTime then = make_system_clock()->wall() - ago;
    const Result<Signed> made = sign(row->verify, kOne, {.body = kBody}, "old", then);
    return RawClient(serve_.port()).post("/in/shop/acme", made->headers, kBody);
  };
  using std::chrono::minutes;
  EXPECT_EQ(signed_at(minutes(6)).problem(), "timestamp-outside-window");
  EXPECT_EQ(signed_at(-minutes(60)).problem(), "timestamp-outside-window");
  EXPECT_EQ(signed_at(std::chrono::hours(24 * 365 * 40)).problem(), "timestamp-outside-window");
  EXPECT_EQ(signed_at(minutes(1)).status, 200);
}

// A time window may be longer than `remember`. An older request may be a duplicate of an event
// whose id has expired.
TEST(TimeWindowTest, ARequestOlderThanRememberIsRejected) {
  const Serve serve(demo_config("sqlite:hapax.db") +
                    "[[source]]\nname = \"slow\"\nsecrets = [\"open sesame\"]\nid = \"json:/id\"\n"
                    "remember = \"1h\"\nkeep = \"1h\"\nsender_retries = \"30m\"\n"
                    "verify = { scheme = \"hmac\", hash = \"sha256\", header = \"X-Signature\", "
                    "encoding = \"hex\", signed = \"{header:X-Time}.{body}\", "
                    "timestamp = \"header:X-Time\", tolerance = \"2d\" }\n");
  const Scheme scheme{.signatures = {{{.at = "header:X-Signature"}}},
                      .messages = {"{time}.{body}"},
                      .time = {.at = "header:X-Time", .past = std::chrono::hours(48)}};
  const auto signed_at = [&](std::chrono::minutes ago) {
    const std::string body = R"({"id":")" + std::to_string(ago.count()) + "\"}";
    const WallTime then = make_system_clock()->wall() - ago;
    const Result<Signed> made = sign(scheme, "open sesame", {.body = body}, "", then);
    return RawClient(serve.port()).post("/in/slow", made->headers, body);
  };
  EXPECT_EQ(signed_at(std::chrono::minutes(61)).problem(), "timestamp-outside-window");
  EXPECT_EQ(signed_at(std::chrono::minutes(1)).status, 200);
}

// The exact limits of the window, with a manual time.
TEST(TimeWindowTest, LimitsAreInclusive) {
  const Preset* row = preset("standard-webhooks");
  const std::vector<std::string> secrets{kOne};
  const Verifier verifier = Verifier::make(row->verify, secrets).value();
  const WallTime signed_at{std::chrono::seconds(1'760'000'000)};
  const Signed made = sign(row->verify, kOne, {.body = "x"}, "1", signed_at).value();
  std::vector<Header> headers;
  for (const OwnedHeader& each : made.headers) headers.push_back({each.name, each.value});
  Scratch scratch;
  const auto reason = [&](std::chrono::seconds later) {
    return verifier.verify({.headers = headers, .body = "x"}, signed_at + later, scratch).reason;
  };
  const std::chrono::seconds past =
      std::chrono::duration_cast<std::chrono::seconds>(row->verify.time.past);
  EXPECT_EQ(reason(past), Reason::none);
  EXPECT_EQ(reason(past + std::chrono::seconds(1)), Reason::timestamp_outside_window);
  EXPECT_EQ(reason(-past), Reason::none);
  EXPECT_EQ(reason(-past - std::chrono::seconds(1)), Reason::timestamp_outside_window);
}

const std::string kTokenSource =
    "[[source]]\nname = \"lab\"\npreset = \"gitlab-token\"\nsecrets = [\"glpat-open-sesame\"]\n"
    "id = \"json:/id\"\n"
    "[[source]]\nname = \"basic\"\nverify = { scheme = \"basic\" }\nsecrets = "
    "[\"me:open-sesame\"]\n"
    "id = \"json:/id\"\n";

TEST(RedactionTest, TokensAreNotStored) {
  Serve serve(demo_config("sqlite:hapax.db") + kTokenSource);
  const auto post = [&](const std::string& path, const OwnedHeader& header) {
    return RawClient(serve.port()).post(path, {header, {"X-Other", "kept"}}, R"({"id":"1"})");
  };
  EXPECT_EQ(post("/in/lab", {"x-GitLab-TOKEN", "glpat-open-sesame"}).status, 200);
  EXPECT_EQ(post("/in/basic", {"AUTHORIZATION", "Basic bWU6b3Blbi1zZXNhbWU="}).status, 200);
  StoreView view("sqlite:" + serve.file("hapax.db"));
  const auto page = view.driver().catalog->events({});
  ASSERT_TRUE(page && page->events.size() == 2);
  for (const store::EventRow& each : page->events) {
    const std::string headers = view.driver().catalog->event(each.no)->value->headers;
    EXPECT_THAT(headers, HasSubstr("<redacted>"));
    EXPECT_THAT(headers, HasSubstr("kept"));
    EXPECT_THAT(headers, Not(HasSubstr("sesame")));
    EXPECT_THAT(headers, Not(HasSubstr("bWU6")));
  }
  EXPECT_THAT(serve.log(), Not(HasSubstr("sesame")));
}

// The signed URL is the public one with the query of the request, regardless of the Host header.
TEST(PublicUrlTest, IsTheSignedUrl) {
  const std::string config =
      "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n"
      "public_url = \"https://hooks.example.com/base/\"\n" +
      kGenerousServer + "[store]\nurl = \"sqlite:hapax.db\"\n" + kGenerousStore +
      "[[source]]\nname = \"square\"\npreset = \"square\"\nsecrets = [\"asdf1234\"]\n"
      "[[source]]\nname = \"twilio\"\npreset = \"twilio\"\n"
      "[[source.tenant]]\nname = \"acme\"\nsecrets = [\"12345\"]\n";
  Serve serve(config);
  const auto post = [&](const std::string& name, const std::string& secret,
                        const std::string& signed_target, const std::string& target,
                        const OwnedHeader& more, const std::string& body) {
    const std::string url = "https://hooks.example.com/base" + signed_target;
    const std::array<Header, 1> own{{{more.name, more.value}}};
    Result<Signed> made =
        sign(preset(name)->verify, secret, {.url = url, .headers = own, .body = body}, "1",
             make_system_clock()->wall());
    EXPECT_TRUE(made);
    std::vector<OwnedHeader> headers = made->headers;
    headers.push_back(more);
    headers.push_back({"I-Twilio-Idempotency-Token", "t1"});
    return RawClient(serve.port()).post(target, headers, body);
  };
  const OwnedHeader json{"Content-Type", "application/json"};
  const OwnedHeader form{"Content-Type", "application/x-www-form-urlencoded"};
  const auto square = [&](const std::string& signed_target, const std::string& target) {
    return post("square", "asdf1234", signed_target, target, json, R"({"event_id":"e1"})");
  };
  const auto twilio = [&](const std::string& signed_target, const std::string& target) {
    return post("twilio", "12345", signed_target, target, form, "To=%2B1&From=%2B2");
  };
  EXPECT_EQ(square("/in/square", "/in/square").status, 200);
  EXPECT_EQ(square("/in/square?a=b&c=%20d", "/in/square?a=b&c=%20d").status, 200);
  EXPECT_EQ(square("/in/square?a=b", "/in/square?a=c").problem(), "signature-invalid");
  EXPECT_EQ(square("/in/square?a=b", "/in/square").problem(), "signature-invalid");
  EXPECT_EQ(square("/in/square", "/in/square?").problem(), "signature-invalid");
  EXPECT_EQ(twilio("/in/twilio/acme?foo=1&bar=2", "/in/twilio/acme?foo=1&bar=2").status, 200);
  EXPECT_EQ(twilio("/in/twilio/other?foo=1", "/in/twilio/acme?foo=1").problem(),
            "signature-invalid");
  EXPECT_EQ(twilio("/in/twilio/acme", "/in/twilio").problem(), "tenant-unknown");
}

}  // namespace

}  // namespace hapax::test
