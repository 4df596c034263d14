// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/witness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

// Two nodes claim the same ids at the same time, one in ascending and one in descending order,
// while both delete expired claims. Locking rows in arrival order would deadlock.
namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 50;
constexpr std::size_t kBatches = 6;
constexpr std::size_t kIds = kBatch * kBatches;
constexpr std::size_t kThreads = 3;  // for each node

// Each epoch is an hour long. In `epoch` a third of the ids are new, a third were claimed in the
// previous epoch for an hour and are expired, and a third were claimed for two hours.
struct WantedClaim {
  std::string id;
  std::chrono::milliseconds ttl;
  bool is_free;

  WantedClaim(std::size_t n, int epoch)
      : id("kept-" + std::to_string(n)), ttl(n % 3 == 1 ? 1h : 2h), is_free(epoch % 2 == 0) {
    if (n % 3 == 0) id = "new-" + std::to_string(epoch) + "-" + std::to_string(n);
    if (n % 3 != 2) is_free = true;
  }
};

class OverlapTest : public testing::Test {
 protected:
  Store open_node() {
    return open(database_.url(), {.timeout = kLongTimeout, .clock = &clock_}).value();
  }

  // Returns the number of deadlocks the server resolved. The store hides them, but each costs a
  // second.
  int run(int epochs, bool with_purge) {
    for (int epoch = 0; epoch < epochs && !HasFailure(); ++epoch) {
      run_epoch(epoch, with_purge);
      expect_one_winner_each();
      clock_.advance(1h);
      // The new ids are not claimed again. Without them the table stays small and the nodes stay
      // fast enough to contend.
      witness_.text("DELETE FROM hapax.claim WHERE position('new-'::bytea IN key) > 0");
    }
    rising_.reset();
    falling_.reset();
    // A backend's counters are visible once it has ended.
    witness_.wait_until("count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
    const int deadlocks = witness_.number(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    std::cout << "  batches: " << batches_ << "\n  purged: " << purged_
              << "\n  deadlocks: " << deadlocks << "\n";
    RecordProperty("batches", batches_);
    RecordProperty("purged", static_cast<int>(purged_));
    RecordProperty("deadlocks", deadlocks);
    return deadlocks;
  }

 private:
  // Every thread of both nodes claims every id.
  void run_epoch(int epoch, bool with_purge) {
    claims_.clear();
    for (std::size_t n = 0; n < kIds; ++n) claims_.emplace_back(n, epoch);
    std::sort(claims_.begin(), claims_.end(),
              [](const WantedClaim& a, const WantedClaim& b) { return a.id < b.id; });
    winners_.fill(0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, i] { claim_all(*rising_, i, false); });
      threads.emplace_back([this, i] { claim_all(*falling_, i, true); });
    }
    std::atomic<bool> done = !with_purge;
    std::thread purger([&] {
      while (!done) purge_some();
    });
    for (std::thread& each : threads) each.join();
    done = true;
    purger.join();
  }

  void expect_one_winner_each() const {
    for (std::size_t n = 0; n < kIds; ++n) {
      ASSERT_EQ(winners_[n], claims_[n].is_free ? 1 : 0) << claims_[n].id;
    }
  }

  // The threads of a node start at different offsets and wrap around.
  void claim_all(Store& node, std::size_t thread, bool is_falling) {
    for (std::size_t i = 0; i < kBatches; ++i) {
      const std::size_t first = (i * kBatch + thread * kIds / kThreads) % kIds;
      std::array<std::size_t, kBatch> places;
      for (std::size_t n = 0; n < kBatch; ++n) places[n] = (first + n) % kIds;
      if (is_falling) {
        for (std::size_t& place : places) place = kIds - 1 - place;
      }
      claim(node, places);
    }
  }

  void claim(Store& node, const std::array<std::size_t, kBatch>& places) {
    std::array<DedupRequest, kBatch> requests;
    for (std::size_t n = 0; n < kBatch; ++n) {
      const WantedClaim& claim = claims_[places[n]];
      requests[n] = {.scope = kScope, .id = claim.id, .ttl = claim.ttl};
    }
    const Result<std::vector<Dedup>> answers = node.dedup(requests);
    ++batches_;
    const std::lock_guard lock(mutex_);
    ASSERT_TRUE(answers) << answers.error().to_string();
    for (std::size_t n = 0; n < kBatch; ++n) winners_[places[n]] += (*answers)[n].duplicate ? 0 : 1;
  }

  void purge_some() {
    for (Store* node : {&*rising_, &*falling_}) {
      const Result<Purged> purged = node->purge(20);
      ASSERT_TRUE(purged) << purged.error().to_string();
      purged_ += purged->removed;
    }
  }

  PostgresDatabase database_;
  ManualClock clock_;
  std::optional<Store> rising_ = open_node();
  std::optional<Store> falling_ = open_node();
  Witness witness_{database_.connect()};
  std::atomic<int> batches_ = 0;
  std::atomic<std::size_t> purged_ = 0;
  std::vector<WantedClaim> claims_;
  std::mutex mutex_;
  std::array<int, kIds> winners_{};
};

TEST_F(OverlapTest, TwoNodesWithOverlappingBatchesNeverDeadlock) {
  EXPECT_EQ(run(rounds(2000), /*with_purge=*/false), 0);
}

TEST_F(OverlapTest, TwoNodesThatAlsoPurgeNeverDeadlockLoseOrDuplicate) {
  EXPECT_EQ(run(rounds(1000), /*with_purge=*/true), 0);
}

}  // namespace
}  // namespace hapax::test
