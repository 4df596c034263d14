// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Push deliveries of accepted events, as observed by a handler and through the admin API.
#include "deliver/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <set>

namespace hapax::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kSoon = "retry = ['10ms', '10ms', '10ms']\nbreaker = false\n";

// Blocks a handler's response until the test opens it.
class Gate {
 public:
  void open() { open_.set_value(); }
  void pass() const { EXPECT_EQ(is_open_.wait_for(kGuard), std::future_status::ready); }

 private:
  static constexpr std::chrono::minutes kGuard{2};

  std::promise<void> open_;
  const std::shared_future<void> is_open_ = open_.get_future().share();
};

std::vector<std::string> bodies(const Handler& handler) {
  std::vector<std::string> list;
  for (const ReceivedRequest& each : handler.received()) list.push_back(each.body);
  return list;
}

TEST(Push, AnEventIsDeliveredOnceWithItsBytesAndHeaders) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200, "thanks"); });
  const Story story(push_config({"orders"}, destination("orders", handler.url("/hook?x=1"))));
  const std::string body = "{\"n\": 1}  \n\xc3\xa9";
  const std::string event = story.send("evt 1", body);
  story.send("evt 1", body);
  ASSERT_TRUE(story.becomes(event, "orders", "completed"));
  ASSERT_THAT(handler.received(), SizeIs(1));
  const ReceivedRequest received = handler.received()[0];
  EXPECT_EQ(received.line(), "POST /hook?x=1 HTTP/1.1");
  EXPECT_EQ(received.body, body);
  EXPECT_EQ(received.header("Host"), "127.0.0.1:" + std::to_string(handler.port()));
  EXPECT_EQ(received.header("Idempotency-Key"), text(story.delivery(event, "orders"), "delivery"));
  EXPECT_EQ(received.header("Hapax-Event"), event);
  EXPECT_EQ(received.header("Hapax-Id"), "evt%201");
  EXPECT_EQ(received.header("Hapax-Source"), "demo");
  EXPECT_EQ(received.header("Hapax-Attempt"), "1");
  EXPECT_NE(received.header("Hapax-Fence"), "");
  EXPECT_EQ(received.header("Hapax-Received-At"), text(story.event(event), "received_at"));
  EXPECT_EQ(received.header("webhook-id"), "evt 1");  // the sender's: the destination has no secret
  EXPECT_THAT(story.attempts(event), ElementsAre("completed 200 "));
  EXPECT_EQ(text(story.event(event).at("attempts").at(0), "excerpt"), "thanks");
}

TEST(Push, ConnectionsAreReused) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200, "ok"); });
  const Story story(push_config({"a"}, destination("a", handler.url(), "concurrency = 1\n")));
  // A connection that was idle for four seconds is not reused. On a very busy machine this may
  // happen, so the check is repeated with the next twenty events.
  std::size_t sent = 0;
  const auto twenty_share_one = [&] {
    const int before = handler.connections();
    for (int i = 0; i < 20; ++i) story.send("evt_" + std::to_string(++sent));
    EXPECT_TRUE(handler.wait_for(sent));
    return handler.connections() <= before + 1;
  };
  EXPECT_TRUE(eventually(twenty_share_one));
}

TEST(Push, AFailureIsRetriedWithTheSameKey) {
  std::atomic<int> calls = 0;
  Handler handler([&](int fd, const ReceivedRequest&) {
    const int call = ++calls;
    return reply(fd, call <= 2 ? 500 : 200, "attempt " + std::to_string(call));
  });
  const Story story(push_config({"a"}, destination("a", handler.url(), kSoon)));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  const std::vector<ReceivedRequest> received = handler.received();
  ASSERT_THAT(received, SizeIs(3));
  EXPECT_EQ(received[0].header("Idempotency-Key"), received[2].header("Idempotency-Key"));
  EXPECT_EQ(received[2].header("Hapax-Attempt"), "3");
  EXPECT_LT(std::stoll(received[0].header("Hapax-Fence")),
            std::stoll(received[2].header("Hapax-Fence")));
  EXPECT_THAT(story.attempts(event),
              ElementsAre("retried 500 status", "retried 500 status", "completed 200 "));
  EXPECT_EQ(text(story.event(event).at("attempts").at(0), "excerpt"), "attempt 1");
}

TEST(Push, AfterTheLastRetryItIsAVisibleDeadLetter) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 503, "no"); });
  const Story story(
      push_config({"a"}, destination("a", handler.url(), "retry = ['5ms']\nbreaker = false\n")));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "a", "dead"));
  EXPECT_EQ(text(story.delivery(event, "a"), "reason"), "exhausted");
  EXPECT_THAT(story.attempts(event), ElementsAre("retried 503 status", "dead 503 status"));
  EXPECT_EQ(number(story.destination("a"), "dead"), 1);
}

TEST(Push, GoneIsDeadAtOnce) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 410); });
  const Story story(push_config({"a"}, destination("a", handler.url(), kSoon)));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "a", "dead"));
  EXPECT_EQ(text(story.delivery(event, "a"), "reason"), "gone");
  EXPECT_THAT(story.attempts(event), ElementsAre("dead 410 status"));
}

TEST(Push, ARedirectIsAFailureAndIsNotFollowed) {
  Handler elsewhere([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  Handler handler([&](int fd, const ReceivedRequest&) {
    return reply(fd, 302, "", "Location: " + elsewhere.url() + "\r\n");
  });
  const Story story(push_config({"a"}, destination("a", handler.url(), "retry = []\n")));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "a", "dead"));
  EXPECT_THAT(story.attempts(event), ElementsAre("dead 302 redirect"));
  EXPECT_EQ(elsewhere.count(), 0U);
}

TEST(Push, RetryAfterIsHonored) {
  Handler handler(
      [](int fd, const ReceivedRequest&) { return reply(fd, 429, "", "Retry-After: 3600\r\n"); });
  const Story story(push_config({"a"}, destination("a", handler.url(), kSoon)));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(handler.wait_for(1));
  ASSERT_TRUE(eventually([&] { return number(story.delivery(event, "a"), "attempts") == 1; }));
  const boost::json::value delivery = story.delivery(event, "a");
  EXPECT_EQ(text(delivery, "status"), "pending");
  // Due in an hour, not in ten milliseconds: the hour differs from that of the arrival.
  EXPECT_NE(text(delivery, "due_at").substr(0, 13),
            text(story.event(event), "received_at").substr(0, 13));
  EXPECT_EQ(handler.count(), 1U);
}

TEST(Push, ASignedDeliveryIsVerifiedAsStandardWebhooks) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 204); });
  const std::string secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  const Story story(
      push_config({"a"}, destination("a", handler.url(), "secret = '" + secret + "'\n")));
  const std::string event = story.send("evt_1", R"({"a":1})");
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  const ReceivedRequest received = handler.received().at(0);
  const std::string id = received.header("webhook-id");
  const std::string timestamp = received.header("webhook-timestamp");
  const std::string signature = received.header("webhook-signature");
  EXPECT_EQ(id, received.header("Idempotency-Key"));
  EXPECT_EQ(received.head.find("webhook-id"), received.head.rfind("webhook-id"));
  const std::vector<Header> headers{
      {"webhook-id", id}, {"webhook-timestamp", timestamp}, {"webhook-signature", signature}};
  const Request request{.headers = headers, .body = received.body};
  const std::vector<std::string> secrets{secret};
  const auto verdict = verify(preset("standard-webhooks"), secrets, request,
                              WallTime(std::chrono::seconds(std::stoll(timestamp))));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->authentic()) << verdict->detail;
}

TEST(Push, DestinationsSucceedOrFailIndependently) {
  Handler good([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  Handler gone([](int fd, const ReceivedRequest&) { return reply(fd, 410); });
  Handler bad([](int fd, const ReceivedRequest&) { return reply(fd, 500); });
  const Story story(push_config({"good", "gone", "bad"},
                                destination("good", good.url()) + destination("gone", gone.url()) +
                                    destination("bad", bad.url(), "retry = ['1h']\n")));
  const std::string event = story.send("evt_1");
  EXPECT_TRUE(story.becomes(event, "good", "completed"));
  EXPECT_TRUE(story.becomes(event, "gone", "dead"));
  EXPECT_TRUE(eventually([&] { return number(story.delivery(event, "bad"), "attempts") == 1; }));
  EXPECT_EQ(text(story.delivery(event, "bad"), "status"), "pending");
  const std::set<std::string> keys{good.received().at(0).header("Idempotency-Key"),
                                   gone.received().at(0).header("Idempotency-Key"),
                                   bad.received().at(0).header("Idempotency-Key")};
  EXPECT_THAT(keys, SizeIs(3));
}

const std::string kOrdered = "order_key = 'json:/k'\nversion = 'json:/v'\n";

TEST(Push, AnOlderVersionIsSupersededByANewerCompletedOne) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  const Story story(push_config({"a"}, destination("a", handler.url()), kOrdered));
  story.post("/v1/destinations/a/pause");
  const std::string newer = story.send("evt_2", R"({"k":"x","v":2})");
  const std::string older = story.send("evt_1", R"({"k":"x","v":1})");
  const std::string other = story.send("evt_3", R"({"k":"y","v":1})");
  story.post("/v1/destinations/a/resume");
  EXPECT_TRUE(story.becomes(newer, "a", "completed"));
  EXPECT_TRUE(story.becomes(older, "a", "superseded"));
  EXPECT_TRUE(story.becomes(other, "a", "completed"));
  EXPECT_EQ(handler.count(), 2U);
}

TEST(Push, ADeadHeadIsSkippedOrBlocksItsLane) {
  Handler skip([](int fd, const ReceivedRequest& received) {
    return reply(fd, received.body.find("poison") == std::string::npos ? 200 : 410);
  });
  Handler block([](int fd, const ReceivedRequest& received) {
    return reply(fd, received.body.find("poison") == std::string::npos ? 200 : 410);
  });
  const Story story(push_config(
      {"skip", "block"},
      destination("skip", skip.url()) + destination("block", block.url(), "on_dead = 'block'\n"),
      "order_key = 'json:/k'\n"));
  const std::string first = story.send("evt_1", R"({"k":"x","a":"poison"})");
  const std::string second = story.send("evt_2", R"({"k":"x"})");
  const std::string other = story.send("evt_3", R"({"k":"y"})");
  EXPECT_TRUE(story.becomes(first, "skip", "dead"));
  EXPECT_TRUE(story.becomes(second, "skip", "completed"));
  EXPECT_TRUE(story.becomes(first, "block", "dead"));
  EXPECT_TRUE(story.becomes(other, "block", "completed"));
  EXPECT_EQ(text(story.delivery(first, "block"), "blocking"), "true");
  EXPECT_EQ(text(story.delivery(second, "block"), "status"), "pending");
  EXPECT_EQ(text(story.delivery(second, "block"), "waiting"), "true");
}

TEST(Push, ALaneKeepsItsOrderThroughFailures) {
  std::atomic<int> calls = 0;
  std::mutex mutex;
  std::vector<std::string> done;
  Handler handler([&](int fd, const ReceivedRequest& received) {
    if (calls++ % 3 == 0) return reply(fd, 500);
    const std::lock_guard lock(mutex);
    done.push_back(received.body);
    return reply(fd, 200);
  });
  const Story story(
      push_config({"a"}, destination("a", handler.url(), kSoon), "order_key = 'json:/k'\n"));
  std::vector<std::string> sent;
  std::string last;
  for (int i = 0; i < 12; ++i) {
    sent.push_back(R"({"k":"x","n":)" + std::to_string(i) + "}");
    last = story.send("evt_" + std::to_string(i), sent.back());
  }
  ASSERT_TRUE(story.becomes(last, "a", "completed"));
  EXPECT_EQ(done, sent);
}

TEST(Push, PauseSurvivesARestart) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  Story story(push_config(
      {"a", "b"}, destination("a", handler.url("/a")) + destination("b", handler.url("/b"))));
  EXPECT_EQ(story.post("/v1/destinations/a/pause").status, 200);
  EXPECT_EQ(story.serve.stop(), 0);
  story.serve.start();
  EXPECT_EQ(text(story.destination("a"), "paused"), "true");
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(story.becomes(event, "b", "completed"));
  EXPECT_EQ(text(story.delivery(event, "a"), "status"), "pending");
  EXPECT_EQ(number(story.destination("a"), "pending"), 1);
  EXPECT_EQ(story.post("/v1/destinations/a/resume").status, 200);
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  EXPECT_EQ(story.post("/v1/destinations/nobody/pause").status, 404);
}

TEST(Push, ARemovedDestinationKeepsItsDeliveries) {
  Gate gone;
  std::atomic<bool> open = false;
  Handler handler([&](int fd, const ReceivedRequest&) {
    gone.pass();
    return reply(fd, open ? 200 : 503);
  });
  const std::string with =
      push_config({"a"}, destination("a", handler.url(), "retry = ['10ms']\n"));
  const Story story(with);
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(handler.wait_for(1));
  story.serve.reload(push_config({}, ""));
  EXPECT_EQ(text(story.destination("a"), "defined"), "false");
  gone.open();
  ASSERT_TRUE(eventually([&] { return number(story.delivery(event, "a"), "attempts") == 1; }));
  EXPECT_EQ(text(story.delivery(event, "a"), "status"), "pending");
  open = true;
  story.serve.reload(with);
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
}

TEST(Push, AReloadedUrlIsUsedFromTheNextAttemptOn) {
  Gate changed;
  Handler before([&](int fd, const ReceivedRequest&) {
    changed.pass();
    return reply(fd, 500);
  });
  Handler after([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  const Story story(push_config({"a"}, destination("a", before.url(), "retry = ['10ms']\n")));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(before.wait_for(1));
  story.serve.reload(push_config({"a"}, destination("a", after.url(), "retry = ['10ms']\n")));
  changed.open();
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  EXPECT_EQ(after.received().at(0).header("Idempotency-Key"),
            before.received().at(0).header("Idempotency-Key"));
}

TEST(Push, AStopDuringAnAttemptCostsNoAttempt) {
  std::atomic<bool> hang = true;
  Handler handler([&](int fd, const ReceivedRequest&) {
    if (!hang) return reply(fd, 200);
    wait_for_end(fd);
    return false;
  });
  Story story(push_config({"a"}, destination("a", handler.url(), "timeout = '5m'\n")));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(handler.wait_for(1));
  EXPECT_EQ(story.serve.stop(), 0);
  hang = false;
  story.serve.start();
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  EXPECT_EQ(handler.received().at(1).header("Hapax-Attempt"), "1");
  EXPECT_THAT(story.attempts(event), ElementsAre("released  stopped", "completed 200 "));
}

TEST(Push, AKilledServersLeasesAreFreeAtOnceOnSqlite) {
  std::atomic<bool> hang = true;
  Handler handler([&](int fd, const ReceivedRequest&) {
    if (!hang) return reply(fd, 200);
    wait_for_end(fd);
    return false;
  });
  // The lease lasts for an hour.
  Story story(
      push_config({"a"}, destination("a", handler.url(), "timeout = '50m'\nlease = '1h'\n")));
  const std::string event = story.send("evt_1");
  ASSERT_TRUE(handler.wait_for(1));
  ASSERT_TRUE(story.becomes(event, "a", "leased"));
  EXPECT_TRUE(story.serve.kill_it());
  hang = false;
  story.serve.start();
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  EXPECT_EQ(handler.received().at(1).header("Hapax-Attempt"), "1");
  EXPECT_LT(std::stoll(handler.received()[0].header("Hapax-Fence")),
            std::stoll(handler.received()[1].header("Hapax-Fence")));
}

TEST(Push, TheCurrentObjectIsFetchedForEachAttempt) {
  std::atomic<int> state = 0;
  Handler api([&](int fd, const ReceivedRequest&) {
    const int now = state++;
    return reply(fd, now == 0 ? 404 : 200, R"({"state":)" + std::to_string(now) + "}",
                 "Content-Type: application/x-order\r\n");
  });
  std::atomic<int> calls = 0;
  Handler handler(
      [&](int fd, const ReceivedRequest&) { return reply(fd, calls++ == 0 ? 500 : 200); });
  const Story story(push_config(
      {"a"}, destination("a", handler.url(),
                         kSoon + "refetch = '" + api.url("/orders/{json:/id}") + "'\n")));
  const std::string event = story.send("evt_1", R"({"id":"o/1"})");
  ASSERT_TRUE(story.becomes(event, "a", "completed"));
  EXPECT_THAT(bodies(handler), ElementsAre(R"({"state":1})", R"({"state":2})"));
  EXPECT_EQ(api.received().at(0).line(), "GET /orders/o%2F1 HTTP/1.1");
  EXPECT_EQ(handler.received().at(0).header("Hapax-Refetched"), "true");
  EXPECT_EQ(handler.received().at(0).header("Content-Type"), "application/x-order");
  EXPECT_EQ(handler.received().at(0).header("Hapax-Attempt"), "2");
  EXPECT_THAT(story.attempts(event),
              ElementsAre("retried  refetch-status", "retried 500 status", "completed 200 "));
  EXPECT_EQ(story.serve.ask("/v1/events/" + event + "/body").body, R"({"id":"o/1"})");
}

TEST(Push, InObserveModeTheHandlerGetsTheHypotheticalResult) {
  Handler handler([](int fd, const ReceivedRequest&) { return reply(fd, 200); });
  const Story story(push_config({"a"}, destination("a", handler.url()), "enforce = false\n"));
  ASSERT_TRUE(story.becomes(story.send("evt_1"), "a", "completed"));
  ASSERT_TRUE(story.becomes(story.send("evt_1"), "a", "completed"));
  RawClient client(story.serve.port());
  auto forged = signed_headers("standard-webhooks", kDemoSecret, "{}", "evt_2");
  EXPECT_EQ(client.post("/in/demo", forged, R"({"forged":1})").status, 200);
  ASSERT_TRUE(handler.wait_for(3));
  std::map<std::string, int> would;
  std::set<std::string> keys;
  for (const ReceivedRequest& each : handler.received()) {
    ++would[each.header("Hapax-Would")];
    keys.insert(each.header("Idempotency-Key"));
  }
  EXPECT_THAT(would, testing::UnorderedElementsAre(testing::Pair("", 1), testing::Pair("reject", 1),
                                                   testing::Pair("duplicate", 1)));
  EXPECT_THAT(keys, SizeIs(3));
}

TEST(Push, MetricsCountAttempts) {
  Handler handler([](int fd, const ReceivedRequest& received) {
    return reply(fd, received.header("Hapax-Attempt") == "1" ? 500 : 200);
  });
  const Story story(push_config({"a"}, destination("a", handler.url(), kSoon)));
  ASSERT_TRUE(story.becomes(story.send("evt_1"), "a", "completed"));
  const std::string metrics = story.serve.ask("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("hapax_attempts_total{destination=\"a\",outcome=\"retried\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("hapax_attempt_seconds_count{destination=\"a\"} "));
  EXPECT_THAT(metrics, HasSubstr("hapax_deliveries_under_way{destination=\"a\"} "));
  EXPECT_THAT(metrics, HasSubstr("hapax_breaker_state{destination=\"a\"} 0"));
}

}  // namespace
}  // namespace hapax::test
