// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/eventually.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace hapax {
namespace {

TEST(Concurrency, SixtyFourThreadsOnOneStoreAndOneIdHaveOneWinner) {
  constexpr int kThreads = 64;
  const int rounds = test::rounds(1000);
  const test::TempDir directory;
  Store store = open("sqlite:" + directory.file("c.db")).value();
  std::vector<std::atomic<int>> winners(static_cast<std::size_t>(rounds));
  std::barrier round_start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::string id = std::to_string(round);
        round_start.arrive_and_wait();
        const Result<Dedup> answer = store.dedup({.scope = "s", .id = id});
        if (!answer) ADD_FAILURE() << answer.error().to_string();
        if (answer && !answer->duplicate) ++winners[static_cast<std::size_t>(round)];
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const std::atomic<int>& each : winners) ASSERT_EQ(each, 1);
}

TEST(Concurrency, TwoStoresOnOneFileNeverBothWin) {
  constexpr int kIds = 300;
  const test::TempDir directory;
  const std::string url = "sqlite:" + directory.file("c.db");
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Store store = open(url, {.busy_timeout = test::kLongTimeout}).value();
      for (int id = 0; id < kIds; ++id) {
        const std::string text = std::to_string(id);
        const Result<Dedup> answer = store.dedup({.scope = "s", .id = text});
        if (!answer) ADD_FAILURE() << answer.error().to_string();
        if (answer && !answer->duplicate) ++won;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(won, kIds);
}

// The part of a write-ahead log's header that changes with every restart of the log.
std::string starts_of(const std::string& log) {
  std::string header(16, '\0');
  std::ifstream(log, std::ios::binary).read(header.data(), 16);
  return header.substr(12);
}

// The amount written before the log restarts depends on the speed of the checkpointer.
TEST(Concurrency, TheLogRestartsAndNoClaimIsLost) {
  constexpr int kBatch = 500;
  const test::TempDir directory;
  const std::string log = directory.file("c.db-wal");
  test::SeededRandom random(7);
  Store store = open("sqlite:" + directory.file("c.db")).value();
  std::vector<std::string> ids;
  const auto claim_batch = [&] {
    std::vector<DedupRequest> requests;
    for (int i = 0; i < kBatch; ++i)
      ids.push_back(std::to_string(random.next()) + std::string(150, 'x'));
    for (std::size_t i = ids.size() - kBatch; i < ids.size(); ++i) {
      requests.push_back({.scope = "s", .id = ids[i]});
    }
    EXPECT_TRUE(store.dedup(requests));
  };
  claim_batch();
  const std::string first = starts_of(log);
  const auto restarts = [&] {
    claim_batch();
    return starts_of(log) != first || testing::Test::HasFailure();
  };
  ASSERT_TRUE(test::eventually(restarts, std::chrono::minutes(10))) << "the log never restarts";
  claim_batch();
  for (const std::string& id : ids) ASSERT_TRUE(store.dedup({.scope = "s", .id = id})->duplicate);
}

}  // namespace
}  // namespace hapax
