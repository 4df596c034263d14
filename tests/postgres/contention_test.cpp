// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <thread>
#include <vector>

// Many nodes claim the same ids at the same time in a serializable database, and each claim expires
// at once. Of conflicting transactions the server lets one commit, again and again; the stores must
// make sure that every node eventually succeeds.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNodes = 32;
constexpr std::size_t kContendedIds = 20;

class ContentionTest : public testing::Test {
 protected:
  ContentionTest() {
    ask_server("ALTER DATABASE " + database_.name() +
               " SET default_transaction_isolation = 'serializable'");
    for (std::size_t i = 0; i < kNodes; ++i) {
      nodes_.push_back(open(database_.url(), {.timeout = kLongTimeout, .connections = 1}).value());
    }
  }

  void run(int count) {
    std::vector<std::thread> threads;
    for (Store& node : nodes_) {
      threads.emplace_back([&node, count] { claim_repeatedly(node, count); });
    }
    for (std::thread& each : threads) each.join();
  }

  // Serialization failures. A backend's counters are visible once it has ended.
  int refused() {
    nodes_.clear();
    const Witness witness(database_.connect());
    witness.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    return witness.number(
        "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()");
  }

 private:
  static void claim_repeatedly(Store& node, int count) {
    std::array<std::string, kContendedIds> ids;
    std::array<DedupRequest, kContendedIds> requests;
    for (std::size_t i = 0; i < kContendedIds; ++i) {
      ids[i] = std::to_string(i);
      requests[i] = {.scope = kScope, .id = ids[i], .ttl = 1ms};
    }
    for (int i = 0; i < count; ++i) {
      const Result<std::vector<Dedup>> answers = node.dedup(requests);
      EXPECT_TRUE(answers) << answers.error().to_string();
    }
  }

  PostgresDatabase database_;
  std::vector<Store> nodes_;
};

TEST_F(ContentionTest, SerializableNodesClaimingTheSameIdsAllSucceed) {
  const int count = rounds(200);
  const int batches = count * static_cast<int>(kNodes);
  run(count);
  const int again = refused();
  std::cout << "  batches: " << batches << "\n  serialization failures: " << again << "\n";
  RecordProperty("batches", batches);
  RecordProperty("serialization_failures", again);
  EXPECT_GT(again, 0);
}

}  // namespace
}  // namespace hapax::test
