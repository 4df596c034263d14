// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Random operations on two stores, side by side. The memory store is the model.
#include "compliance/inbox_model.hpp"
#include "compliance/inbox_subjects.hpp"

#include <gtest/gtest-spi.h>

namespace hapax::test {
namespace {

constexpr std::uint64_t kSeeds = 5;

// From one seed come the same operations, and the same answers to them.
class InboxModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Other>
  void compare_with_memory(int operations, bool forgets_late = false) {
    MemoryInbox model;
    Other other;
    compare_inboxes(model, other, GetParam(), operations, forgets_late);
  }
};
INSTANTIATE_TEST_SUITE_P(Seed, InboxModel, testing::Range<std::uint64_t>(1, kSeeds + 1));

TEST_P(InboxModel, TheSqliteStoreAnswersLikeTheMemoryStore) {
  compare_with_memory<SqliteInbox>(rounds(100'000));
}

// A server takes much longer for it, the more so the more days have passed.
TEST_P(InboxModel, ThePostgresStoreAnswersLikeTheMemoryStore) {
  compare_with_memory<PostgresInbox>(is_long_run() ? 100'000 : 3'000, /*forgets_late=*/true);
}

// A store whose time is a millisecond late now and then.
class LateInbox final : public InboxSubject {
 public:
  const Driver& driver() override { return inbox_.driver(); }
  void advance(milliseconds by) override {
    const bool late = ++calls_ % 100 == 0 && by.count() > 0;
    inbox_.advance(late ? by - milliseconds(1) : by);
  }
  void jump_wall(milliseconds by) override { inbox_.jump_wall(by); }

 private:
  MemoryInbox inbox_;
  int calls_ = 0;
};

void compare_with_a_late_store() {
  MemoryInbox model;
  LateInbox other;
  compare_inboxes(model, other, 1, 10'000);
}

TEST(InboxModelItself, ADifferenceIsFoundAndItsSeedReported) {
  EXPECT_FATAL_FAILURE(compare_with_a_late_store(), "seed 1, operation");
}

TEST(InboxModelItself, ASeedGivesTheSameOperationsAgain) {
  OperationSource one(7);
  OperationSource two(7);
  OperationSource other(8);
  int different = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string drawn = describe(one.next({}));
    EXPECT_EQ(drawn, describe(two.next({})));
    if (drawn != describe(other.next({}))) ++different;
  }
  EXPECT_GT(different, 100);
}

}  // namespace
}  // namespace hapax::test
