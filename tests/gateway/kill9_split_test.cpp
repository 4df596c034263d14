// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"
#include "support/eventually.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <set>
#include <thread>

// kill -9 of a real server during split requests: of each request either all new events are stored,
// or none.
namespace hapax::test {

namespace {

constexpr int kItems = 40;
constexpr int kSplitKills = 30;
constexpr int kSplitClients = 8;

std::string config(const std::string& store_url) {
  return demo_config(store_url) +
         "[[source]]\nname = \"many\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
         kDemoSecret + "\"]\nid = \"json:/id\"\nsplit = \"json:/*\"\ndeliver_to = [\"work\"]\n";
}

// Request r of a client repeats the second half of the items of request r - 1 and adds new ones.
std::string body_of(const std::string& client, int request) {
  std::string body;
  const int first = request * kItems / 2;
  for (int i = first; i < first + kItems; ++i) {
    body += (body.empty() ? "[{\"id\":\"" : ",{\"id\":\"") + client + "/" + std::to_string(i) +
            "\",\"text\":\"" + std::string(50, 'x') + "\"}";
  }
  return body + "]";
}

struct Sent {
  std::string client;
  int acknowledged = 0;  // number of requests
};

void send_until_gone(const Serve& serve, Sent& sent, std::atomic<int>& total) {
  RawClient client(serve.port());
  for (;; ++sent.acknowledged, ++total) {
    const std::string body = body_of(sent.client, sent.acknowledged);
    const auto headers = signed_headers("standard-webhooks", kDemoSecret, body, "r");
    const HttpAnswer answer = client.post("/in/many", headers, body);
    if (answer.status == 0) return;
    ASSERT_EQ(answer.status, 200) << answer.body << serve.log();
    const int fresh = sent.acknowledged == 0 ? kItems : kItems / 2;
    EXPECT_NE(answer.body.find("\"accepted\":" + std::to_string(fresh)), std::string::npos)
        << answer.body.substr(answer.body.rfind(']'));
  }
}

// Checks that the new items of each request, which form a half, are stored completely or not at
// all.
void check_halves(const std::vector<Sent>& sent, const std::string& store_url) {
  std::map<std::string, std::map<int, int>> halves;  // by client: items per half
  for (const auto& [id, body] : StoreView(store_url).bodies()) {
    const std::size_t slash = id.rfind('/');
    ++halves[id.substr(0, slash)][std::stoi(id.substr(slash + 1)) / (kItems / 2)];
  }
  for (const Sent& each : sent) {
    const std::map<int, int>& of_client = halves[each.client];
    for (const auto& [half, count] : of_client) {
      EXPECT_EQ(count, kItems / 2) << each.client << " half " << half;
    }
    EXPECT_NE(of_client.size(), 1U) << "the first request has two halves";
    const int acknowledged = each.acknowledged == 0 ? 0 : each.acknowledged + 1;
    EXPECT_GE(static_cast<int>(of_client.size()), acknowledged) << each.client;
  }
}

void kill_while_splitting(Serve& serve, const std::string& store_url) {
  std::vector<Sent> all;
  const int kills = std::max(2, rounds(kSplitKills));
  for (int round = 0; round < kills; ++round) {
    std::vector<Sent> sent(kSplitClients);
    std::atomic<int> total = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kSplitClients; ++i) {
      Sent& one = sent[static_cast<std::size_t>(i)];
      one.client = std::to_string(round) + "-" + std::to_string(i);
      threads.emplace_back([&serve, &total, mine = &one] { send_until_gone(serve, *mine, total); });
    }
    const auto enough = [&] { return total >= 20 + round % 7 || testing::Test::HasFatalFailure(); };
    EXPECT_TRUE(eventually(enough, std::chrono::minutes(5)));
    EXPECT_TRUE(serve.kill_it());
    for (std::thread& each : threads) each.join();
    if (testing::Test::HasFatalFailure()) return;
    serve.start();
    all.insert(all.end(), sent.begin(), sent.end());
  }
  check_halves(all, store_url);
  int requests = 0;
  for (const Sent& each : all) requests += each.acknowledged;
  std::cout << requests << " requests acknowledged, " << kills << " kills\n";
}

}  // namespace

TEST(Kill9SplitTest, StoresAllOrNothingOfARequestOnSqlite) {
  Serve serve(config("sqlite:hapax.db"));
  kill_while_splitting(serve, "sqlite:" + serve.file("hapax.db"));
}

TEST(Kill9SplitTest, StoresAllOrNothingOfARequestOnPostgres) {
  PostgresDatabase database;
  Serve serve(config(database.url()));
  kill_while_splitting(serve, database.url());
}

}  // namespace hapax::test
