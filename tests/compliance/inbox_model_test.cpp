// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Random operations on two stores side by side. The memory store is the model.
#include "compliance/inbox_model.hpp"
#include "compliance/inbox_subjects.hpp"

#include <gtest/gtest-spi.h>

namespace hapax::test {
namespace {

constexpr std::uint64_t kSeeds = 5;

// The parameter is the seed, which determines the operations.
class InboxModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Other>
  void compare_with_memory(int operations, bool late_cleanup = false) {
    MemoryInbox model;
    Other other;
    compare_inboxes(model, other, GetParam(), operations, late_cleanup);
  }
};
INSTANTIATE_TEST_SUITE_P(Seed, InboxModel, testing::Range<std::uint64_t>(1, kSeeds + 1));

TEST_P(InboxModel, TheSqliteStoreAnswersLikeTheMemoryStore) {
  compare_with_memory<SqliteInbox>(rounds(100'000));
}

// Fewer operations in short runs: PostgreSQL takes much longer, increasingly so with the number of
// days.
TEST_P(InboxModel, ThePostgresStoreAnswersLikeTheMemoryStore) {
  compare_with_memory<PostgresInbox>(is_long_run() ? 100'000 : 3'000, /*late_cleanup=*/true);
}

// A store whose clock is occasionally a millisecond late.
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

TEST(InboxModelItself, TheSameSeedGivesTheSameOperations) {
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
