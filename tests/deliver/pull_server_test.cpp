// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <thread>

// Stories of workers and a real server. What needs time to pass is in tests/admin/pull_test.cpp.
namespace hapax::test {
namespace {

using testing::IsEmpty;

std::string token(const std::string& secret, const std::string& allow) {
  return "[[token]]\nname = \"worker\"\nsecret = \"" + secret + "\"\nallow = [" + allow + "]\n";
}

void send(const Serve& serve, const std::string& id) {
  RawClient sender(serve.port());
  EXPECT_EQ(serve.post(sender, id, "{\"id\":\"" + id + "\"}").status, 200);
}

// As the server last counted them.
std::size_t connections(const Serve& serve) {
  const std::string name = "\nhapax_connections ";
  const std::string metrics = serve.ask("/metrics").body;
  const std::size_t at = metrics.find(name);
  return at == std::string::npos ? 0 : std::stoul(metrics.substr(at + name.size()));
}

TEST(PullServer, AnEventIsTakenAndDone) {
  const Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  send(serve, "evt_1");
  const std::vector<InHand> leased = worker.lease("work");
  ASSERT_EQ(leased.size(), 1U);
  EXPECT_EQ(leased[0].id, "evt_1");
  EXPECT_THAT(worker.lease("work"), IsEmpty());
  EXPECT_EQ(worker.settle(leased[0], "ack"), "ok");
  EXPECT_NE(serve.ask("/v1/events").body.find("\"status\":\"completed\""), std::string::npos);
}

// The client would give up after ten seconds; the wait is a minute.
TEST(PullServer, AnArrivalWakesTheWorkerThatWaits) {
  const Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  auto waiting = std::async(std::launch::async,
                            [&] { return worker.lease("work", R"(,"max":10,"wait_s":60)"); });
  send(serve, "evt_1");
  const std::vector<InHand> leased = waiting.get();
  ASSERT_EQ(leased.size(), 1U);
  EXPECT_EQ(leased[0].id, "evt_1");
}

TEST(PullServer, AServerThatStopsAnswersTheWorkersThatWait) {
  Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  std::vector<std::future<std::vector<InHand>>> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(
        std::async(std::launch::async, [&] { return worker.lease("work", R"(,"wait_s":60)"); }));
  }
  while (connections(serve) < waiting.size()) std::this_thread::yield();
  EXPECT_EQ(serve.stop(), 0);
  for (auto& each : waiting) EXPECT_THAT(each.get(), IsEmpty());
}

TEST(PullServer, AWorkerSettlesWhatItLeasedBeforeTheServerWasKilled) {
  Serve serve(demo_config("sqlite:hapax.db"));
  const PullClient worker(serve);
  for (const char* id : {"1", "2", "3"}) send(serve, id);
  const std::vector<InHand> leased = worker.lease("work", R"(,"max":3)");
  ASSERT_EQ(leased.size(), 3U);
  EXPECT_TRUE(serve.kill_it());
  serve.start();
  EXPECT_THAT(worker.lease("work"), IsEmpty()) << "the leases are the worker's, not the server's";
  EXPECT_EQ(worker.settle(leased[0], "ack"), "ok");
  EXPECT_EQ(worker.settle(leased[1], "retry", R"(,"retry_after_s":0,"error":"again")"), "ok");
  EXPECT_EQ(worker.settle(leased[1], "retry"), "ok");
  EXPECT_EQ(worker.settle(leased[2], "drop"), "ok");
  const std::vector<InHand> again = worker.lease("work", R"(,"max":3)");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].delivery, leased[1].delivery);
  EXPECT_EQ(again[0].attempt, 2);
  EXPECT_EQ(worker.settle(leased[1], "ack"), "stale");
}

TEST(PullServer, ATokenChangesWithTheFile) {
  const std::string config = demo_config("sqlite:hapax.db");
  const std::string rights = R"("lease:work", "settle:work")";
  Serve serve(config + token("first-secret", rights));
  const PullClient first(serve, "first-secret");
  const PullClient second(serve, "second-secret");
  send(serve, "evt_1");
  const std::vector<InHand> leased = first.lease("work");
  ASSERT_EQ(leased.size(), 1U);
  const std::string lease = R"({"destination":"work"})";
  EXPECT_EQ(second.post("/v1/lease", lease).problem(), "token-invalid");
  EXPECT_EQ(first.post("/v1/dedup", "{}").problem(), "forbidden");

  serve.write_config(config + token("second-secret", rights));
  serve.signal(SIGHUP);
  while (second.post("/v1/lease", lease).status != 200) std::this_thread::yield();
  EXPECT_EQ(first.post("/v1/lease", lease).problem(), "token-invalid");
  EXPECT_EQ(second.settle(leased[0], "ack"), "ok");

  serve.write_config(config + token("second-secret", "\"read\""));
  serve.signal(SIGHUP);
  while (second.post("/v1/lease", lease).status == 200) std::this_thread::yield();
  EXPECT_EQ(second.post("/v1/lease", lease).problem(), "forbidden");
  EXPECT_EQ(serve.log().find("second-secret"), std::string::npos);
}

}  // namespace
}  // namespace hapax::test
