// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/outgoing.hpp"

#include "model/headers.hpp"
#include "model/ids.hpp"
#include "support/world.hpp"

#include <hapax/verify.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace hapax::deliver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

store::Leased leased(const std::vector<Header>& headers, std::string body = R"({"a":1})") {
  store::Leased what;
  what.delivery = DeliveryNo(2);
  what.fence = Fence(77);
  what.attempt = 3;
  what.event.no = EventNo(123456789);
  what.event.id = "evt_1";
  what.event.headers = encode_headers(headers);
  what.event.body = std::move(body);
  what.event.received = WallTime(std::chrono::seconds(1'700'000'000));
  return what;
}

std::vector<std::string> values(const OutgoingDelivery& delivery, std::string_view name) {
  std::vector<std::string> found;
  for (const Header& each : delivery.headers) {
    if (each.name == name) found.emplace_back(each.value);
  }
  return found;
}

TEST(Outgoing, DescribesTheEventInItsOwnHeaders) {
  const store::Leased what = leased({});
  const OutgoingDelivery delivery = outgoing(Destination{.name = "x"}, what, "stripe", WallTime());
  EXPECT_EQ(delivery.body, what.event.body);
  const std::string key = to_text(DeliveryRef{what.event.no, what.delivery});
  EXPECT_THAT(values(delivery, "Idempotency-Key"), ElementsAre(key));
  EXPECT_THAT(values(delivery, "Hapax-Event"), ElementsAre(to_text(what.event.no)));
  EXPECT_THAT(values(delivery, "Hapax-Id"), ElementsAre("evt_1"));
  EXPECT_THAT(values(delivery, "Hapax-Source"), ElementsAre("stripe"));
  EXPECT_THAT(values(delivery, "Hapax-Tenant"), ElementsAre(""));
  EXPECT_THAT(values(delivery, "Hapax-Attempt"), ElementsAre("3"));
  EXPECT_THAT(values(delivery, "Hapax-Fence"), ElementsAre("77"));
  EXPECT_THAT(values(delivery, "Hapax-Received-At"), ElementsAre("2023-11-14T22:13:20.000000Z"));
  EXPECT_THAT(values(delivery, "Hapax-Would"), IsEmpty());
  EXPECT_THAT(values(delivery, "Hapax-Replay-Of"), IsEmpty());
  EXPECT_THAT(values(delivery, "webhook-id"), IsEmpty());
}

TEST(Outgoing, SendersHeadersAreForwardedUnlessMeantForHapax) {
  const store::Leased what = leased({{"Content-Type", "application/json"},
                                     {"X-Twice", "1"},
                                     {"X-Twice", "2"},
                                     {"stripe-signature", "t=1,v1=abc"},
                                     {"webhook-id", "theirs"},
                                     {"host", "hooks.example.com"},
                                     {"Content-Length", "7"},
                                     {"Expect", "100-continue"},
                                     {"Transfer-Encoding", "chunked"},
                                     {"Connection", "close, X-Hop ,x-other"},
                                     {"x-hop", "1"},
                                     {"X-Other", "1"},
                                     {"Keep-Alive", "timeout=5"},
                                     {"hapax-fence", "1"},
                                     {"HAPAX-ANYTHING", "1"},
                                     {"idempotency-key", "theirs"},
                                     {"Authorization", "<redacted>"},
                                     {"X-Broken", "a\r\nX-Injected: 1"}});
  const OutgoingDelivery delivery = outgoing(Destination{.name = "x"}, what, "s", WallTime());
  std::vector<std::string> names;
  for (const Header& each : delivery.headers) names.emplace_back(each.name);
  EXPECT_THAT(names,
              ElementsAre("Content-Type", "X-Twice", "X-Twice", "stripe-signature", "webhook-id",
                          "Idempotency-Key", "Hapax-Event", "Hapax-Id", "Hapax-Source",
                          "Hapax-Tenant", "Hapax-Attempt", "Hapax-Fence", "Hapax-Received-At"));
  EXPECT_THAT(values(delivery, "X-Twice"), ElementsAre("1", "2"));
}

// CGI, WSGI, PHP and Rack map both spellings of a header name to one variable.
TEST(Outgoing, HeadersThatHandlersMistakeForHapaxsAreDropped) {
  const store::Leased what = leased({{"Idempotency_Key", "theirs"},
                                     {"idempotency.key", "theirs"},
                                     {"Hapax_Id", "other"},
                                     {"hapax_would", "reject"},
                                     {"Content_Length", "7"},
                                     {"Transfer_Encoding", "chunked"},
                                     {"Connection", "x-hop"},
                                     {"X_Hop", "1"},
                                     {"Webhook_Id", "theirs"},
                                     {"webhook_signature", "v1,no"},
                                     {"X_Kind", "kept"},
                                     {"HapaxId", "kept"}});
  const Destination to{.name = "x", .secret = kSecret};
  const OutgoingDelivery delivery = outgoing(to, what, "s", WallTime());
  std::vector<std::string> theirs;
  for (const Header& each : delivery.headers) {
    const bool added = std::any_of(delivery.added.begin(), delivery.added.end(),
                                   [&](const OwnedHeader& own) { return own.name == each.name; });
    if (!added) theirs.emplace_back(each.name);
  }
  EXPECT_THAT(theirs, ElementsAre("X_Kind", "HapaxId"));
}

TEST(Outgoing, IdsOfAnyBytesArePercentEncodedInHeaders) {
  store::Leased what = leased({});
  what.event.id = std::string("a b\r\nX: 1\0%\xff", 12);
  what.event.tenant = "ten ant";
  const OutgoingDelivery delivery = outgoing(Destination{.name = "x"}, what, "s", WallTime());
  EXPECT_THAT(values(delivery, "Hapax-Id"), ElementsAre("a%20b%0D%0AX:%201%00%25%FF"));
  EXPECT_THAT(values(delivery, "Hapax-Tenant"), ElementsAre("ten%20ant"));
  EXPECT_EQ(header_text("evt_1/~:plain"), "evt_1/~:plain");
}

TEST(Outgoing, ObserveModeAndReplaysAreReported) {
  store::Leased what = leased({});
  what.event.would = Would::duplicate;
  what.replay_of = DeliveryNo(1);
  const OutgoingDelivery delivery = outgoing(Destination{.name = "x"}, what, "s", WallTime());
  EXPECT_THAT(values(delivery, "Hapax-Would"), ElementsAre("duplicate"));
  EXPECT_THAT(values(delivery, "Hapax-Replay-Of"),
              ElementsAre(to_text(DeliveryRef{what.event.no, DeliveryNo(1)})));
}

TEST(Outgoing, ASecretReplacesTheSendersSignature) {
  const WallTime now(std::chrono::seconds(1'700'000'100));
  for (const std::string& secret : {kSecret, std::string("just a text")}) {
    const store::Leased what = leased({{"Webhook-Id", "theirs"}, {"webhook-signature", "v1,no"}});
    const Destination to{.name = "x", .secret = secret};
    const OutgoingDelivery delivery = outgoing(to, what, "s", now);
    EXPECT_THAT(values(delivery, "Webhook-Id"), IsEmpty());
    EXPECT_EQ(values(delivery, "webhook-id"), values(delivery, "Idempotency-Key"));
    EXPECT_THAT(values(delivery, "webhook-timestamp"), ElementsAre("1700000100"));
    EXPECT_THAT(values(delivery, "webhook-signature"), ElementsAre(StartsWith("v1,")));
    // Of the two presets, only "openai" uses a secret without whsec_ as plain text.
    const Request request{.headers = delivery.headers, .body = delivery.body};
    const Preset* const scheme = preset(secret == kSecret ? "standard-webhooks" : "openai");
    const std::vector<std::string> secrets{secret};
    const Result<Verdict> verdict = verify(scheme, secrets, request, now);
    ASSERT_TRUE(verdict) << verdict.error().to_string();
    EXPECT_TRUE(verdict->authentic()) << secret;
  }
}

TEST(Outgoing, AFetchedBodyKeepsItsContentHeaders) {
  const store::Leased what = leased({{"Content-Type", "text/plain"}, {"X-A", "1"}});
  const Fetched fetched{"application/json", "", R"({"now":true})"};
  const OutgoingDelivery delivery =
      outgoing(Destination{.name = "x"}, what, "s", WallTime(), &fetched);
  EXPECT_EQ(delivery.body, fetched.body);
  EXPECT_THAT(values(delivery, "Content-Type"), ElementsAre("application/json"));
  EXPECT_THAT(values(delivery, "Hapax-Refetched"), ElementsAre("true"));
  EXPECT_THAT(values(delivery, "X-A"), ElementsAre("1"));
}

}  // namespace
}  // namespace hapax::deliver
