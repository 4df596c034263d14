// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

// kill -9 of a real server under load: after the restart every acknowledged event is stored once,
// with its bytes.
namespace hapax::test {

namespace {

constexpr int kClients = 16;
constexpr int kKills = 50;

std::string body_of(const std::string& id) {
  return "{\"id\":\"" + id + "\",\"note\":\"" + std::string(200 + id.size() * 7 % 400, 'n') + "\"}";
}

// Acknowledged events with their bodies. Thread-safe.
struct Acknowledged {
  void add(const std::string& id, const std::string& body) {
    const std::lock_guard lock(mutex);
    bodies[id] = body;
    changed.notify_all();
  }
  [[nodiscard]] bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::minutes(5), [&] { return bodies.size() >= count; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> bodies;
};

// Sends events until the server is killed; records the acknowledged ones.
void send_until_gone(const Serve& serve, const std::string& name, Acknowledged& acknowledged) {
  RawClient client(serve.port());
  for (int i = 0;; ++i) {
    const std::string id = name + "-" + std::to_string(i);
    const std::string body = body_of(id);
    const HttpAnswer answer = serve.post(client, id, body);
    if (answer.status == 0) return;
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_NE(answer.body.find("\"duplicate\":false"), std::string::npos) << answer.body;
    acknowledged.add(id, body);
  }
}

void run_and_kill(Serve& serve, int round, Acknowledged& acknowledged) {
  std::vector<std::thread> clients;
  const std::size_t before = acknowledged.bodies.size();
  for (int i = 0; i < kClients; ++i) {
    const std::string name = std::to_string(round) + "-" + std::to_string(i);
    clients.emplace_back([&, name] { send_until_gone(serve, name, acknowledged); });
  }
  // Kill at an arbitrary moment, but only after enough events were acknowledged.
  EXPECT_TRUE(acknowledged.wait_for(before + 51 + static_cast<std::size_t>(round % 7) * 20));
  EXPECT_TRUE(serve.kill_it());
  for (std::thread& each : clients) each.join();
}

void kill_many_times(Serve& serve, const std::string& store_url) {
  Acknowledged acknowledged;
  for (int round = 0; round < std::max(2, rounds(kKills) * 2); ++round) {
    run_and_kill(serve, round, acknowledged);
    if (testing::Test::HasFatalFailure()) return;
    serve.start();
  }
  const std::map<std::string, std::string> stored = StoreView(store_url).bodies();
  for (const auto& [id, body] : acknowledged.bodies) {
    const auto found = stored.find(id);
    ASSERT_NE(found, stored.end()) << id << " was acknowledged and is lost";
    EXPECT_EQ(found->second, body);
  }
  std::cout << acknowledged.bodies.size() << " acknowledged, " << stored.size() << " stored\n";
  for (const auto& [id, body] : stored) EXPECT_EQ(body, body_of(id));
}

}  // namespace

TEST(Kill9ServerTest, NothingAcknowledgedIsLostOnSqlite) {
  Serve serve(demo_config("sqlite:hapax.db"));
  kill_many_times(serve, "sqlite:" + serve.file("hapax.db"));
}

TEST(Kill9ServerTest, NothingAcknowledgedIsLostOnPostgres) {
  PostgresDatabase database;
  Serve serve(demo_config(database.url()));
  kill_many_times(serve, database.url());
}

}  // namespace hapax::test
