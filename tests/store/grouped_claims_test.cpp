// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/grouped_claims.hpp"

#include <gtest/gtest.h>

#include <future>
#include <list>

// Group commit of claims, over a store whose calls wait until the test lets them go.
namespace hapax::store {
namespace {

constexpr const char* kDamaged = "damaged";

// Records its calls, by the number of items. A call with the damaged id fails.
class HeldClaims final : public Claims {
 public:
  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override {
    std::unique_lock lock(mutex_);
    calls_.push_back(items.size());
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    std::vector<Dedup> answers;
    for (const DedupItem& each : items) {
      if (each.key == kDamaged) return Error(Code::store_corrupt, "a damaged claim");
      answers.push_back({.duplicate = each.key == "known"});
    }
    return answers;
  }
  Result<Purged> purge(std::size_t) override { return Purged{}; }

  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_calls(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_.size() >= count; });
  }
  std::vector<std::size_t> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::vector<std::size_t> calls_;
};

class GroupedClaimsTest : public testing::Test {
 protected:
  using Answer = std::future<Result<std::vector<Dedup>>>;

  Answer claim(GroupedClaims& claims, const std::string& key) {
    const DedupItem& item =
        items_.emplace_back(DedupItem{key, Token{{1}}, std::chrono::milliseconds(1)});
    return std::async(std::launch::async, [&claims, &item] { return claims.dedup({&item, 1}); });
  }
  // Queues callers behind one whose call hangs, then lets all go.
  std::vector<Answer> claim_behind_one(const std::vector<std::string>& keys) {
    std::vector<Answer> answers;
    answers.push_back(claim(one_, "first"));
    held_.wait_for_calls(1);
    for (const std::string& each : keys) {
      answers.push_back(claim(one_, each));
      while (one_.waiting() < answers.size() - 1) std::this_thread::yield();
    }
    held_.open();
    return answers;
  }

  HeldClaims held_;
  GroupedClaims one_{held_, 1};
  std::list<DedupItem> items_;
};

TEST_F(GroupedClaimsTest, CallersThatWaitAreCommittedTogether) {
  std::vector<Answer> answers = claim_behind_one({"a", "known", "c"});
  std::vector<bool> duplicates;
  for (Answer& each : answers) duplicates.push_back(each.get().value().at(0).duplicate);
  EXPECT_EQ(duplicates, (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(held_.calls(), (std::vector<std::size_t>{1, 3}));
}

TEST_F(GroupedClaimsTest, ADamagedClaimFailsOnlyItsCaller) {
  std::vector<Answer> answers = claim_behind_one({"a", kDamaged, "c"});
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Result<std::vector<Dedup>> answer = answers[i].get();
    const bool is_damaged = i == 2;
    ASSERT_EQ(answer.has_value(), !is_damaged) << i;
    if (!is_damaged) continue;
    EXPECT_EQ(answer.error().code(), Code::store_corrupt);
  }
}

TEST_F(GroupedClaimsTest, AsManyGroupsAsWritersAreCommittedAtOnce) {
  GroupedClaims two(held_, 2);
  std::vector<Answer> answers;
  answers.push_back(claim(two, "a"));
  held_.wait_for_calls(1);
  answers.push_back(claim(two, "b"));
  held_.wait_for_calls(2);
  held_.open();
  for (Answer& each : answers) EXPECT_TRUE(each.get());
}

}  // namespace
}  // namespace hapax::store
