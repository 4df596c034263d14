// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/polls.hpp"
#include "deliver/pull_client.hpp"
#include "support/eventually.hpp"
#include "support/sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <deque>
#include <future>
#include <iostream>
#include <map>

// Workers and a real server. tests/admin/pull_test.cpp has the tests that depend on time.
namespace hapax::test {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string token(const std::string& secret, const std::string& allow) {
  return "[[token]]\nname = \"worker\"\nsecret = \"" + secret + "\"\nallow = [" + allow + "]\n";
}

// A lease request; by default it waits for a minute.
std::string lease_request(const Serve& serve, const std::string& destination, int max = 1,
                          int wait_s = 60) {
  const std::string body = R"({"destination":")" + destination + R"(","max":)" +
                           std::to_string(max) + R"(,"lease_s":3600,"wait_s":)" +
                           std::to_string(wait_s) + "}";
  return "POST /v1/lease HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
         admin_token(serve) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

void send(const Serve& serve, const std::string& id) {
  RawClient sender(serve.port());
  EXPECT_EQ(serve.post(sender, id, "{\"id\":\"" + id + "\"}").status, 200);
}

TEST(PullServer, AnEventIsLeasedAndSettled) {
  const Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  send(serve, "evt_1");
  const std::vector<LeasedDelivery> leased = worker.lease("work");
  ASSERT_EQ(leased.size(), 1U);
  EXPECT_EQ(leased[0].id, "evt_1");
  EXPECT_THAT(worker.lease("work"), IsEmpty());
  EXPECT_EQ(worker.settle(leased[0], "ack"), "ok");
  EXPECT_NE(serve.ask("/v1/events").body.find("\"status\":\"completed\""), std::string::npos);
}

TEST(PullServer, AnArrivalWakesAWaitingWorker) {
  const Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  auto waiting = std::async(std::launch::async,
                            [&] { return worker.lease("work", R"(,"max":10,"wait_s":60)"); });
  send(serve, "evt_1");
  const std::vector<LeasedDelivery> leased = waiting.get();
  ASSERT_EQ(leased.size(), 1U);
  EXPECT_EQ(leased[0].id, "evt_1");
}

TEST(PullServer, AStoppingServerAnswersWaitingPolls) {
  Serve serve(demo_config("sqlite:hapax.db"));
  // One more poll than may wait for a destination: once it is rejected, the others are waiting.
  constexpr std::size_t kMaxWaiting = deliver::kMaxPolls / 2;
  std::deque<RawClient> workers;
  std::vector<pollfd> answered;
  for (std::size_t i = 0; i < kMaxWaiting + 1; ++i) {
    RawClient& worker = workers.emplace_back(serve.admin_port());
    ASSERT_TRUE(worker.send(lease_request(serve, "work")));
    answered.push_back({.fd = worker.handle(), .events = POLLIN, .revents = 0});
  }
  ASSERT_EQ(poll(answered.data(), answered.size(), 60'000), 1);
  EXPECT_EQ(serve.stop(), 0);
  std::map<std::string, std::size_t> answers;
  for (RawClient& each : workers) {
    const HttpAnswer answer = each.receive();
    ++answers[answer.status == 200 ? answer.body : answer.problem()];
  }
  EXPECT_THAT(answers, UnorderedElementsAre(Pair("{\"deliveries\":[]}\n", kMaxWaiting),
                                            Pair("queue-full", 1U)));
}

TEST(PullServer, LeasesSurviveAKilledServer) {
  Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  for (const char* id : {"1", "2", "3"}) send(serve, id);
  const std::vector<LeasedDelivery> leased = worker.lease("work", R"(,"max":3)");
  ASSERT_EQ(leased.size(), 3U);
  EXPECT_TRUE(serve.kill_it());
  serve.start();
  EXPECT_THAT(worker.lease("work"), IsEmpty()) << "leases of a worker outlive the server";
  EXPECT_EQ(worker.settle(leased[0], "ack"), "ok");
  EXPECT_EQ(worker.settle(leased[1], "retry", R"(,"retry_after_s":0,"error":"again")"), "ok");
  EXPECT_EQ(worker.settle(leased[1], "retry"), "ok");
  EXPECT_EQ(worker.settle(leased[2], "drop"), "ok");
  const std::vector<LeasedDelivery> again = worker.lease("work", R"(,"max":3)");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivery, leased[1].delivery);
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_EQ(worker.settle(leased[1], "ack"), "stale");
}

void wait_for_answer(const RawClient& client) {
  pollfd answered{.fd = client.handle(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&answered, 1, 300'000), 1);
}

void expect_bounded_memory(const Serve& serve, std::size_t leases) {
  const std::size_t resident = serve.resident();
  std::cout << "  " << leases << " unread lease responses: " << resident / 1'000'000 << " MB\n";
  EXPECT_TRUE(is_sanitized() || resident < std::size_t{200} * 1024 * 1024) << resident;
}

// Sends events of 1 MiB; 16 of them fit into one lease response.
void send_large_events(const Serve& serve, std::size_t count) {
  RawClient sender(serve.port());
  const std::string body(std::size_t{1024} * 1024, 'x');
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(serve.post(sender, "evt_" + std::to_string(i), body).status, 200);
  }
}

// Workers that request all deliveries and do not read the response, as may happen after an outage.
TEST(PullServer, UnreadResponsesUseBoundedMemory) {
  constexpr std::size_t kWorkers = 12;
  constexpr std::size_t kEvents = kWorkers * 16;
  const Serve serve(demo_config("sqlite:hapax.db"));
  send_large_events(serve, kEvents);
  std::deque<RawClient> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    ASSERT_TRUE(
        workers.emplace_back(serve.admin_port()).send(lease_request(serve, "work", 1000, 0)));
  }
  for (const RawClient& each : workers) wait_for_answer(each);
  expect_bounded_memory(serve, kWorkers);
  std::size_t given = 0;
  std::map<std::string, std::size_t> refused;
  const auto count = [&](const HttpAnswer& answer) {
    std::size_t found = 0;
    if (answer.status != 200) ++refused[answer.problem()];
    for (std::size_t at = answer.body.find(R"("delivery":)"); at != std::string::npos;
         at = answer.body.find(R"("delivery":)", at + 1)) {
      ++found;
    }
    given += found;
    return found;
  };
  for (RawClient& each : workers) count(each.receive());
  EXPECT_GE(given, 16U);
  // The number of rejected requests depends on the speed of the other responses.
  EXPECT_EQ(refused.size(), refused.count("queue-full"));
  const auto lease = [&] {
    RawClient worker(serve.admin_port());
    worker.send(lease_request(serve, "work", 1000, 0));
    return count(worker.receive());
  };
  while (lease() > 0) {
  }
  EXPECT_EQ(given, kEvents) << "later requests get the remaining deliveries";
}

// The same with twelve destinations. Socket buffers absorb small responses, so lease_room_test.cpp
// checks how many destinations get memory.
TEST(PullServer, UnreadResponsesLeaveMemoryForOtherDestinations) {
  constexpr std::size_t kDestinations = 12;
  std::string config = demo_config("sqlite:hapax.db");
  std::string all = "\"work\"";
  for (std::size_t i = 1; i < kDestinations; ++i) {
    const std::string name = "\"work-" + std::to_string(i) + "\"";
    all += ", " + name;
    config += "[[destination]]\nname = " + name + "\nkind = \"pull\"\n";
  }
  const std::string one = "deliver_to = [\"work\"]";
  config.replace(config.find(one), one.size(), "deliver_to = [" + all + "]");
  const Serve serve(config);
  send_large_events(serve, 16);
  std::deque<RawClient> workers;
  for (std::size_t i = 0; i < kDestinations; ++i) {
    const std::string name = i == 0 ? "work" : "work-" + std::to_string(i);
    ASSERT_TRUE(workers.emplace_back(serve.admin_port()).send(lease_request(serve, name, 1000, 0)));
    wait_for_answer(workers.back());
  }
  expect_bounded_memory(serve, kDestinations);
  for (RawClient& each : workers) {
    const HttpAnswer answer = each.receive();
    EXPECT_EQ(answer.status, 200) << answer.problem();
    EXPECT_NE(answer.body.find(R"("delivery":)"), std::string::npos);
  }
}

TEST(PullServer, AReloadChangesTheAdminNames) {
  const auto config = [](const std::string& name) {
    return demo_config("sqlite:hapax.db") + "[admin]\nnames = [\"" + name + "\"]\n";
  };
  Serve serve(config("old.internal"));
  const auto status = [&](const std::string& host) {
    RawClient client(serve.admin_port());
    client.send("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.receive().status;
  };
  EXPECT_EQ(status("old.internal"), 200);
  EXPECT_EQ(status("new.internal"), 421);
  serve.reload(config("new.internal"));
  EXPECT_EQ(status("new.internal"), 200);
  EXPECT_EQ(status("old.internal"), 421);
}

TEST(PullServer, AReloadChangesTokens) {
  const std::string config = demo_config("sqlite:hapax.db");
  const std::string rights = R"("lease:work", "settle:work")";
  Serve serve(config + token("first-secret", rights));
  const PullClient first(serve, "first-secret");
  const PullClient second(serve, "second-secret");
  send(serve, "evt_1");
  const std::vector<LeasedDelivery> leased = first.lease("work");
  ASSERT_EQ(leased.size(), 1U);
  const std::string lease = R"({"destination":"work"})";
  EXPECT_EQ(second.post("/v1/lease", lease).problem(), "token-invalid");
  EXPECT_EQ(first.post("/v1/dedup", "{}").problem(), "forbidden");

  serve.write_config(config + token("second-secret", rights));
  serve.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return second.post("/v1/lease", lease).status == 200; }));
  EXPECT_EQ(first.post("/v1/lease", lease).problem(), "token-invalid");
  EXPECT_EQ(second.settle(leased[0], "ack"), "ok");

  serve.write_config(config + token("second-secret", "\"read\""));
  serve.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return second.post("/v1/lease", lease).status != 200; }));
  EXPECT_EQ(second.post("/v1/lease", lease).problem(), "forbidden");
  EXPECT_EQ(serve.log().find("second-secret"), std::string::npos);
}

}  // namespace
}  // namespace hapax::test
