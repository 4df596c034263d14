// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api.hpp"
#include "base/base64.hpp"
#include "deliver/polls.hpp"
#include "http/raw_server.hpp"
#include "support/eventually.hpp"
#include "support/http.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <deque>
#include <future>

// Workers that lease and settle over HTTP, with a manual clock.
namespace hapax::test {
namespace {

namespace json = boost::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

struct Got {
  std::string delivery;
  std::int64_t fence = 0;
  std::string id;
  std::int64_t attempt = 0;

  std::string result(const std::string& outcome, const std::string& more = "") const {
    return R"({"delivery":")" + delivery + R"(","fence":)" + std::to_string(fence) +
           R"(,"outcome":")" + outcome + '"' + more + "}";
  }
};

std::vector<Got> deliveries_in(const ApiAnswer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  std::vector<Got> found;
  const json::value value = answer.json();
  for (const json::value& each : value.at("deliveries").as_array()) {
    found.push_back({std::string(each.at("delivery").as_string()), each.at("fence").as_int64(),
                     std::string(each.at("id").as_string()), each.at("attempt").as_int64()});
  }
  return found;
}

class AdminPull : public testing::TestWithParam<StoreKind> {
 protected:
  std::vector<Got> lease(const std::string& more = "", const std::string& from = "work") {
    return deliveries_in(api_.post("/v1/lease", R"({"destination":")" + from + '"' + more + "}"));
  }
  std::vector<std::string> statuses(const ApiAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> found;
    const json::value value = answer.json();
    for (const json::value& each : value.at("results").as_array()) {
      found.emplace_back(each.at("status").as_string());
    }
    return found;
  }
  std::vector<std::string> settle(const std::string& results, const std::string& token = kToken) {
    return statuses(api_.ask("POST", "/v1/settle", R"({"results":[)" + results + "]}", token));
  }
  std::vector<std::string> renew(const Got& got, const std::string& more = "") {
    return statuses(api_.post("/v1/renew", R"({"leases":[{"delivery":")" + got.delivery +
                                               R"(","fence":)" + std::to_string(got.fence) + "}]" +
                                               more + "}"));
  }
  // The first delivery of an event.
  json::object delivery(const std::string& event) {
    return api_.get("/v1/events/" + event).json().at("deliveries").at(0).as_object();
  }
  json::array attempts(const std::string& event) {
    return api_.get("/v1/events/" + event).json().at("attempts").as_array();
  }
  std::string state(const std::string& event) {
    return std::string(delivery(event).at("status").as_string());
  }
  void until_state(const std::string& event, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return state(event) == wanted; })) << state(event);
  }
  void until_polling(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return api_.state().polling == count; })) << api_.state().polling;
  }
  // Advances repeatedly, because the server reads the clock at an unknown moment.
  void pass_time_until_polling(std::size_t count) {
    EXPECT_TRUE(eventually([&] {
      api_.clock().advance(seconds(1));
      return api_.state().polling == count;
    })) << api_.state().polling;
  }
  // Then sends one request per server thread. Once these are answered, the earlier polls have
  // queried the store and are waiting.
  void until_waiting(std::size_t count) {
    until_polling(count);
    for (std::size_t i = 0; i < kServerThreads; ++i) EXPECT_THAT(lease("", "audit"), IsEmpty());
  }
  std::future<std::vector<Got>> lease_later(const std::string& more) {
    return std::async(std::launch::async, [this, more] { return lease(more); });
  }
  std::string request(const std::string& body) {
    return "POST /v1/lease HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
           std::string(kToken) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }

  Api api_{GetParam(), {"work", "audit", "pushed"}};
};

INSTANTIATE_TEST_SUITE_P(, AdminPull, testing::Values(StoreKind::memory), [](const auto& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Sqlite";
});

TEST_P(AdminPull, AWorkerGetsTheEventAsReceived) {
  const std::string body("\0bytes\xff", 7);
  const std::vector<Header> headers{
      {"X-Kind", "a"}, {"X-Token", "<redacted>"}, {"Idempotency_Key", "theirs"}, {"X-Kind", "b"}};
  const auto events = admit(api_, {{.id = "evt_1",
                                    .tenant = "acme",
                                    .type = "invoice.paid",
                                    .body = body,
                                    .headers = headers,
                                    .destinations = {"work"}}});
  const ApiAnswer answer = api_.post("/v1/lease", R"({"destination":"work","lease_s":60})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json::value value = answer.json();
  ASSERT_EQ(value.at("deliveries").as_array().size(), 1U);
  const json::value& one = value.at("deliveries").at(0);
  EXPECT_EQ(one.at("event").as_string(), events[0]);
  EXPECT_EQ(one.at("source").as_string(), "demo");
  EXPECT_EQ(one.at("tenant").as_string(), "acme");
  EXPECT_EQ(one.at("id").as_string(), "evt_1");
  EXPECT_EQ(one.at("type").as_string(), "invoice.paid");
  EXPECT_EQ(one.at("attempt").as_int64(), 1);
  EXPECT_EQ(one.at("received_at").as_string(), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(one.at("lease_until").as_string(), "2023-11-14T22:14:20.000000Z");
  EXPECT_EQ(json::serialize(one.at("headers")), R"([["X-Kind","a"],["X-Kind","b"]])");
  EXPECT_EQ(from_base64(std::string(one.at("body_base64").as_string())), body);
  EXPECT_EQ(state(events[0]), "leased");

  const Got got = deliveries_in(answer)[0];
  EXPECT_THAT(settle(got.result("ack")), ElementsAre("ok"));
  EXPECT_EQ(state(events[0]), "completed");
  EXPECT_THAT(lease(), IsEmpty());
}

TEST_P(AdminPull, ALeaseEndsWithTheResultOfTheWorker) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}},
                                   {.id = "2", .destinations = {"work"}},
                                   {.id = "3", .destinations = {"work"}}});
  const std::vector<Got> got = lease(R"(,"max":10)");
  ASSERT_EQ(got.size(), 3U);
  api_.clock().advance(seconds(2));
  EXPECT_THAT(settle(got[0].result("ack") + "," +
                     got[1].result("retry", R"(,"retry_after_s":7,"error":"no disk")") + "," +
                     got[2].result("drop", R"(,"error":"not ours")")),
              ElementsAre("ok", "ok", "ok"));
  EXPECT_EQ(state(events[0]), "completed");
  EXPECT_EQ(state(events[1]), "pending");
  EXPECT_EQ(state(events[2]), "cancelled");
  EXPECT_EQ(delivery(events[2]).at("reason").as_string(), "dropped");
  const json::array record = attempts(events[1]);
  ASSERT_EQ(record.size(), 1U);
  EXPECT_EQ(record[0].at("error").as_string(), "no disk");
  EXPECT_EQ(record[0].at("outcome").as_string(), "retried");
  EXPECT_EQ(record[0].at("took_ms").as_int64(), 2000);

  EXPECT_THAT(lease(), IsEmpty());
  api_.clock().advance(seconds(7));
  const std::vector<Got> again = lease();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivery, got[1].delivery) << "the idempotency key stays the same";
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_GT(again[0].fence, got[1].fence);
}

TEST_P(AdminPull, ARepeatedResultChangesNothing) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const Got got = lease()[0];
  EXPECT_THAT(settle(got.result("ack") + "," + got.result("ack") + "," + got.result("drop")),
              ElementsAre("ok", "ok", "stale"));
  EXPECT_THAT(settle(got.result("ack")), ElementsAre("ok"));
  EXPECT_THAT(settle(got.result("retry")), ElementsAre("stale"));
  EXPECT_EQ(state(events[0]), "completed");
  EXPECT_EQ(attempts(events[0]).size(), 1U);
}

// The destination retries after 10 and 20 seconds.
TEST_P(AdminPull, ADeliveryIsDeadAfterItsLastRetry) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const Got first = lease()[0];
  EXPECT_THAT(settle(first.result("retry")), ElementsAre("ok"));
  api_.clock().advance(seconds(9));
  EXPECT_THAT(lease(), IsEmpty()) << "jitter never shortens a delay";
  api_.clock().advance(seconds(3));
  const Got second = lease()[0];
  EXPECT_EQ(second.attempt, 2);
  EXPECT_THAT(settle(second.result("retry", R"(,"retry_after_s":0)")), ElementsAre("ok"));
  const Got third = lease()[0];
  EXPECT_EQ(third.attempt, 3);
  // The schedule has no third delay, so retry_after_s has no effect.
  EXPECT_THAT(settle(third.result("retry", R"(,"retry_after_s":0,"error":"still")")),
              ElementsAre("ok"));
  EXPECT_EQ(state(events[0]), "dead");
  EXPECT_EQ(delivery(events[0]).at("reason").as_string(), "exhausted");
  EXPECT_EQ(attempts(events[0]).back().at("error").as_string(), "still");
  // Repeated results are acknowledged again.
  EXPECT_THAT(
      settle(first.result("retry") + "," + second.result("retry") + "," + third.result("retry")),
      ElementsAre("ok", "ok", "ok"));
}

TEST_P(AdminPull, ANodeWithoutTheLeaseReadsTheRetryBudgetFromTheStore) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const auto forget = [&] {  // as if another node had leased it
    for (std::int64_t i = 0; i < 40'000; ++i) {
      api_.lease_cache().note(Fence((std::int64_t{1} << 62) + i), {});
    }
  };
  std::vector<Got> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(lease().at(0));
    forget();
    EXPECT_THAT(settle(all.back().result("retry", R"(,"retry_after_s":0)")), ElementsAre("ok"));
    EXPECT_THAT(settle(all.back().result("retry", R"(,"retry_after_s":0)")), ElementsAre("ok"));
  }
  EXPECT_EQ(state(events[0]), "dead");
  for (const Got& each : all) EXPECT_THAT(settle(each.result("retry")), ElementsAre("ok"));
  EXPECT_EQ(attempts(events[0]).size(), 3U);
}

TEST_P(AdminPull, ADeliveryWhoseLeaseExpiresThreeTimesIsAbandoned) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  for (int i = 0; i < 3; ++i) {
    const std::vector<Got> got = lease(R"(,"lease_s":5)");
    ASSERT_EQ(got.size(), 1U) << i;
    EXPECT_EQ(got[0].attempt, 1) << "an expired lease is not a failed attempt";
    api_.clock().advance(seconds(5));
  }
  EXPECT_THAT(lease(), IsEmpty());
  EXPECT_EQ(state(events[0]), "dead");
  EXPECT_EQ(delivery(events[0]).at("reason").as_string(), "abandoned");
  EXPECT_EQ(delivery(events[0]).at("attempts").as_int64(), 0);
}

TEST_P(AdminPull, ALateWorkerMaySettleUntilAnotherHasTheLease) {
  const auto events =
      admit(api_, {{.id = "1", .destinations = {"work"}}, {.id = "2", .destinations = {"work"}}});
  const std::vector<Got> late = lease(R"(,"max":2,"lease_s":5)");
  ASSERT_EQ(late.size(), 2U);
  api_.clock().advance(seconds(6));
  EXPECT_THAT(settle(late[0].result("ack")), ElementsAre("ok"));
  const Got another = lease()[0];
  EXPECT_EQ(another.delivery, late[1].delivery);
  EXPECT_THAT(settle(late[1].result("ack")), ElementsAre("stale"));
  EXPECT_THAT(renew(late[1]), ElementsAre("stale"));
  EXPECT_EQ(state(events[1]), "leased") << "a stale fence must not settle";
  EXPECT_THAT(settle(another.result("ack")), ElementsAre("ok"));
}

TEST_P(AdminPull, RenewExtendsTheLease) {
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  const Got got = lease(R"(,"lease_s":5)")[0];
  api_.clock().advance(seconds(4));
  EXPECT_THAT(renew(got, R"(,"lease_s":20)"), ElementsAre("ok"));
  api_.clock().advance(seconds(19));
  EXPECT_THAT(lease(), IsEmpty());
  EXPECT_THAT(renew(got), ElementsAre("ok")) << "renewed for the destination's 30 s";
  api_.clock().advance(seconds(29));
  EXPECT_THAT(lease(), IsEmpty());
  EXPECT_THAT(settle(got.result("ack")), ElementsAre("ok"));
  EXPECT_THAT(renew(got), ElementsAre("stale"));
  EXPECT_EQ(state(events[0]), "completed");
}

TEST_P(AdminPull, AWaitingWorkerIsWokenByANotification) {
  std::future<std::vector<Got>> waiting = lease_later(R"(,"wait_s":60)");
  until_polling(1);
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  api_.notifier().notify(destination_no(api_, "work"));
  const std::vector<Got> got = waiting.get();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].id, "1");
  EXPECT_EQ(api_.state().polling, 0U);
}

TEST_P(AdminPull, AWaitingWorkerFindsEventsAdmittedByAnotherNode) {
  std::future<std::vector<Got>> waiting = lease_later(R"(,"wait_s":60)");
  until_waiting(1);
  admit(api_, {{.id = "1", .destinations = {"work"}}});  // without a notification
  api_.clock().advance(seconds(1));
  EXPECT_EQ(waiting.get().size(), 1U);
}

TEST_P(AdminPull, WaitsNoLongerThanItsTimeout) {
  std::future<std::vector<Got>> waiting = lease_later(R"(,"wait_s":20)");
  until_polling(1);
  pass_time_until_polling(0);
  EXPECT_THAT(waiting.get(), IsEmpty());
}

TEST_P(AdminPull, SettlingWakesAPollForTheNextOfTheLane) {
  admit(api_, {{.id = "1", .order_key = "k", .destinations = {"work"}},
               {.id = "2", .order_key = "k", .destinations = {"work"}}});
  const Got first = lease(R"(,"max":2)").at(0);
  std::future<std::vector<Got>> waiting = lease_later(R"(,"wait_s":60)");
  until_polling(1);
  EXPECT_THAT(settle(first.result("ack")), ElementsAre("ok"));
  const std::vector<Got> next = waiting.get();
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].id, "2");
}

TEST_P(AdminPull, PollsAreAnsweredWhenTheServerStops) {
  std::vector<std::future<std::vector<Got>>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(lease_later(R"(,"wait_s":60)"));
  until_polling(waiting.size());
  api_.end_polls();
  for (auto& each : waiting) EXPECT_THAT(each.get(), IsEmpty());
  EXPECT_THAT(lease(R"(,"wait_s":60)"), IsEmpty()) << "a stopping server answers at once";
}

TEST_P(AdminPull, ReportsBackpressureAndStillAcceptsResults) {
  admit(api_, {{.id = "1", .destinations = {"work"}}});
  const Got got = lease()[0];
  api_.state().polling = deliver::kMaxPolls;
  const ApiAnswer answer = api_.post("/v1/lease", R"({"destination":"work"})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.problem(), "queue-full");
  EXPECT_THAT(settle(got.result("ack")), ElementsAre("ok"));
  EXPECT_EQ(api_.state().polling, deliver::kMaxPolls);
  api_.state().polling = 0;
}

// Each poll has its own connection and gets no response while no delivery is due.
TEST_P(AdminPull, WorkersOfOneDestinationCannotUseAllPollPermits) {
  const std::string poll = request(R"({"destination":"work","wait_s":60})");
  std::deque<RawClient> fleet;
  for (std::size_t i = 0; i < deliver::kMaxPolls / 2; ++i) {
    fleet.emplace_back(api_.port());
    ASSERT_TRUE(fleet.back().send(poll));
  }
  until_waiting(fleet.size());
  const ApiAnswer more = api_.post("/v1/lease", R"({"destination":"work"})");
  EXPECT_EQ(more.status, 503);
  EXPECT_EQ(more.problem(), "queue-full");
  EXPECT_EQ(more.headers.at("retry-after"), "1");
  admit(api_, {{.id = "1", .destinations = {"audit"}}});
  const ApiAnswer other = api_.post("/v1/lease", R"({"destination":"audit","wait_s":60})");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.json().at("deliveries").as_array().size(), 1U);
  api_.end_polls();
  for (RawClient& each : fleet) EXPECT_EQ(each.receive().status, 200);
  until_polling(0);
}

TEST_P(AdminPull, AClientThatDisconnectsWhilePollingHoldsNoLease) {
  {
    RawClient client(api_.port());
    client.send(request(R"({"destination":"work","wait_s":60})"));
    until_polling(1);
    EXPECT_TRUE(end_sending(client.handle()));
  }
  const auto events = admit(api_, {{.id = "1", .destinations = {"work"}}});
  api_.notifier().notify(destination_no(api_, "work"));
  until_polling(0);
  until_state(events[0], "pending");
  const std::vector<Got> got = lease();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].attempt, 1);
  EXPECT_EQ(delivery(events[0]).at("abandons").as_int64(), 0);
  // Usually there is no attempt: the disconnect was noticed before the lease.
  for (const json::value& each : attempts(events[0])) {
    EXPECT_EQ(each.at("outcome").as_string(), "released");
    EXPECT_EQ(each.at("error").as_string(), "client left");
  }
}

TEST_P(AdminPull, APollEndsSoonAfterItsClientDisconnects) {
  {
    RawClient client(api_.port());
    client.send(request(R"({"destination":"work","wait_s":60})"));
    until_polling(1);
    EXPECT_TRUE(end_sending(client.handle()));
  }
  pass_time_until_polling(0);
}

TEST_P(AdminPull, LeasesAreReleasedIfTheResponseCannotBeWritten) {
  std::vector<Sample> large;
  for (int i = 0; i < 14; ++i) {
    large.push_back(
        {.id = std::to_string(i), .body = std::string(1024 * 1024, 'x'), .destinations = {"work"}});
  }
  const auto events = admit(api_, large);
  {
    RawClient client(api_.port());  // does not read
    client.send(request(R"({"destination":"work","max":100})"));
    until_state(events.back(), "leased");
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(client.handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  until_state(events.back(), "pending");
  EXPECT_EQ(state(events.front()), "pending");
  EXPECT_EQ(lease(R"(,"max":100)").size(), 14U);
  EXPECT_EQ(delivery(events[3]).at("abandons").as_int64(), 0);
}

}  // namespace
}  // namespace hapax::test
