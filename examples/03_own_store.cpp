// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A custom store implements one method. The suite that hapax's own stores pass tests whether it
// fulfils the contract. This store does, but keeps its claims only in memory.
#include <hapax/compliance.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

using std::chrono::milliseconds;

// The clock of the store, so that tests need not wait until a claim expires.
struct ManualClock {
  std::atomic<milliseconds::rep> ms{0};
};

class MapStore final : public hapax::DedupStore {
 public:
  explicit MapStore(const ManualClock& clock) : clock_(clock) {}

  hapax::Result<std::vector<hapax::Dedup>> dedup(
      std::span<const hapax::DedupRequest> requests) override {
    for (const auto& each : requests) {
      if (auto allowed = hapax::check(each); !allowed) return allowed.error();
    }
    const std::lock_guard lock(mutex_);
    std::vector<hapax::Dedup> answers;
    for (const auto& each : requests) answers.push_back({.duplicate = !claim(each)});
    return answers;
  }

 private:
  struct Claim {
    hapax::Token token;
    milliseconds expires{0};
  };

  // Whether the request owns the claim now. A repeated request with the token of the claim owns it
  // already.
  bool claim(const hapax::DedupRequest& request) {
    const milliseconds now(clock_.ms);
    Claim& current = claims_[{std::string(request.scope), std::string(request.id)}];
    if (now < current.expires) return !request.token.empty() && request.token == current.token;
    current = {.token = request.token, .expires = now + request.ttl};
    return true;
  }

  const ManualClock& clock_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Claim> claims_;
};

class MapStoreSubject final : public hapax::compliance::Subject {
 public:
  hapax::DedupStore& store() override { return store_; }
  void advance(milliseconds by) override { clock_.ms += by.count(); }

 private:
  ManualClock clock_;
  MapStore store_{clock_};
};

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hapax::compliance::add_dedup_suite("MapStore", {.exact_time = true},
                                     [] { return std::make_unique<MapStoreSubject>(); });
  return RUN_ALL_TESTS();
}
