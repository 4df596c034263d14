// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Split requests, which have many events each, with a real server.
namespace hapax::test {

namespace {

using testing::HasSubstr;

constexpr const char* kAdyenKey =
    "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

const std::string kSplitSources =
    "[[source]]\nname = \"many\"\npreset = \"standard-webhooks\"\nsecrets = [\"" + kDemoSecret +
    "\"]\nid = \"json:/id\"\nsplit = \"json:/items/*\"\nmax_body = \"16MiB\"\n"
    "[[source]]\nname = \"few\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
    kDemoSecret +
    "\"]\nid = \"json:/id\"\nsplit = \"json:/*\"\nsplit_max = 3\n"
    "[[source]]\nname = \"adyen\"\npreset = \"adyen\"\nsecrets = [\"" +
    std::string(kAdyenKey) + "\"]\n";

std::string items(int from, int to) {
  std::string list;
  for (int i = from; i < to; ++i) {
    list += (list.empty() ? "{ \"id\":\"" : ",{ \"id\":\"") + std::to_string(i) + "\" }";
  }
  return list;
}

class SplitTest : public testing::Test {
 protected:
  HttpAnswer post(const std::string& source, const std::string& body) {
    const auto headers = signed_headers("standard-webhooks", kDemoSecret, body, "request");
    return RawClient(serve_.port()).post("/in/" + source, headers, body);
  }
  std::map<std::string, std::string> stored() {
    return StoreView("sqlite:" + serve_.file("hapax.db")).bodies();
  }

  Serve serve_{demo_config("sqlite:hapax.db") + kSplitSources};
};

TEST_F(SplitTest, EachElementIsAnEventWithItsOwnBytes) {
  const HttpAnswer answer = post("many", R"({"items": [ {"id":"a","x":[1, 2]} , {"id": "b"}]})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("accepted":2,"duplicates":0,"rejected":0})"));
  EXPECT_EQ(stored(), (std::map<std::string, std::string>{{"a", R"({"id":"a","x":[1, 2]})"},
                                                          {"b", R"({"id": "b"})"}}));
}

TEST_F(SplitTest, KnownIdsDoNotBlockTheRest) {
  EXPECT_EQ(post("many", "{\"items\":[" + items(0, 50) + "]}").status, 200);
  const HttpAnswer answer = post("many", "{\"items\":[" + items(25, 75) + "]}");
  EXPECT_THAT(answer.body, HasSubstr(R"("accepted":25,"duplicates":25,"rejected":0})"));
  EXPECT_EQ(stored().size(), 75U);
  const HttpAnswer twice = post("many", R"({"items":[{"id":"t"},{"id":"t"}]})");
  EXPECT_THAT(twice.body, HasSubstr(R"("accepted":1,"duplicates":1,"rejected":0})"));
}

TEST_F(SplitTest, BodiesOfAnotherShapeAreRejectedWithAReason) {
  EXPECT_THAT(post("many", R"({"items":[]})").body,
              HasSubstr(R"({"events":[],"accepted":0,"duplicates":0,"rejected":0})"));
  EXPECT_EQ(post("many", R"({"items":[]})").status, 200);
  EXPECT_EQ(post("few", "[]").status, 200);
  for (const char* body : {"{}", R"({"other":[]})", R"({"items":1})", R"({"items":"x"})",
                           R"({"items":null})", "7", "null", "", "no json", "[[", "\xff"}) {
    EXPECT_EQ(post("many", body).problem(), "payload-unreadable") << body;
  }
  EXPECT_EQ(post("many", R"({"items":[],"items":[]})").problem(), "id-ambiguous");
  EXPECT_EQ(post("many", R"({"items":[1]})").problem(), "id-missing");
  EXPECT_TRUE(stored().empty());
}

TEST_F(SplitTest, TooManyEventsAreRejectedAsAWhole) {
  EXPECT_EQ(post("few", "[" + items(5000, 5003) + "]").status, 200);
  const HttpAnswer answer = post("few", "[" + items(6000, 6004) + "]");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.problem(), "body-too-large");
  std::string million = "{\"items\":[1";
  for (int i = 1; i < 1'000'000; ++i) million += ",1";
  EXPECT_EQ(post("many", million + "]}").status, 413);
  std::string items_of_adyen = "{\"notificationItems\":[{\"NotificationRequestItem\":{}}";
  for (int i = 1; i < 20'000; ++i) items_of_adyen += ",{\"NotificationRequestItem\":{}}";
  EXPECT_EQ(RawClient(serve_.port()).post("/in/adyen", {}, items_of_adyen + "]}").status, 413);
  EXPECT_EQ(post("many", "{\"items\":[" + items(0, 1001) + "]}").status, 413);
  EXPECT_EQ(post("many", "{\"items\":[" + items(0, 1000) + "]}").status, 200);
  EXPECT_EQ(stored().size(), 1003U);
}

std::string adyen_item(const std::string& reference) {
  return R"({"NotificationRequestItem":{"additionalData":{"hmacSignature":"x"},"amount":)"
         R"({"value":1130,"currency":"EUR"},"pspReference":")" +
         reference +
         R"(","eventCode":"AUTHORISATION","eventDate":"2025-10-09T10:53:20+02:00",)"
         R"("merchantAccountCode":"Shop","merchantReference":"r","success":"true"}})";
}

std::string adyen_body(const std::vector<std::string>& references) {
  std::string body;
  for (const std::string& each : references) body += (body.empty() ? "" : ",") + adyen_item(each);
  body = R"({"live":"false","notificationItems":[)" + body + "]}";
  return sign(preset("adyen")->verify, kAdyenKey, {.body = body}, "", WallTime{}).value().body;
}

TEST_F(SplitTest, OneInvalidItemSignatureRejectsTheRequest) {
  const auto post_raw = [&](const std::string& body) {
    return RawClient(serve_.port()).post("/in/adyen", {}, body);
  };
  const std::string good = adyen_body({"p1", "p2", "p3"});
  std::string bad = good;
  bad.replace(bad.find("\"pspReference\":\"p2\""), 19, "\"pspReference\":\"p9\"");
  EXPECT_EQ(post_raw(bad).problem(), "signature-invalid");
  EXPECT_TRUE(stored().empty());
  EXPECT_THAT(post_raw(good).body, HasSubstr(R"("accepted":3)"));
  EXPECT_THAT(post_raw(adyen_body({"p3", "p4"})).body, HasSubstr(R"("accepted":1,"duplicates":1)"));
  EXPECT_EQ(stored().size(), 4U);
  // Signatures are in the items, so a body without items has none.
  EXPECT_EQ(post_raw(R"({"live":"false","notificationItems":[]})").problem(), "signature-missing");
}

}  // namespace

}  // namespace hapax::test
