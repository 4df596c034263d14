// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/once.hpp>

#include "support/callers.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hapax {
namespace {

using namespace std::string_literals;

template <class Caller>
class OnceTest : public testing::Test {
 protected:
  using Tx = typename Caller::Tx;
  using Transaction = typename Caller::Transaction;

  // Runs once() in its own transaction, which is committed regardless of the result.
  template <class Work>
  Result<Once> once_and_commit(const OnceId& what, Work work) {
    Result<Transaction> tx = session_.begin();
    if (!tx) return tx.error();
    Result<Once> done = once(*tx, what, work);
    EXPECT_TRUE(tx->commit());
    return done;
  }

  // Runs the standard work under the id and returns whether it was a duplicate.
  bool duplicate(const OnceId& what) {
    const auto work = [&](Tx& tx) { return Caller::insert_work(tx, std::string(what.id)); };
    return once_and_commit(what, work).value().duplicate;
  }

  int works() const { return test::count(caller_, "work"); }

  test::ManualClock clock_;
  Caller caller_{clock_};
  typename Caller::Session session_ = caller_.attach();
};

TYPED_TEST_SUITE(OnceTest, test::Callers, test::CallerNames);

TYPED_TEST(OnceTest, RunsTheWorkOnceAndThenReturnsItsResult) {
  const auto work = [&](auto& tx) -> Result<std::string> {
    if (Result<void> done = TypeParam::insert_work(tx, "m1"); !done) return done.error();
    return "order-17";
  };
  const Result<Once> first = this->once_and_commit({"orders", "m1"}, work);
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_FALSE(first->duplicate);
  EXPECT_EQ(first->result, "order-17");
  const Result<Once> second = this->once_and_commit({"orders", "m1"}, work);
  EXPECT_TRUE(second->duplicate);
  EXPECT_EQ(second->result, "order-17");
  EXPECT_EQ(this->works(), 1);
}

TYPED_TEST(OnceTest, ResultsThatLookEmptyAreResults) {
  int number = 0;
  for (const std::string& result : {"0"s, "false"s, "{}"s, "null"s, "\0"s, "a\0b"s, " "s}) {
    const std::string id = std::to_string(number++);
    EXPECT_EQ(this->once_and_commit({"s", id}, [&](auto&) { return result; })->result, result);
    const Result<Once> again = this->once_and_commit({"s", id}, [](auto&) { return "other"s; });
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->result, result);
  }
}

TYPED_TEST(OnceTest, AnEmptyResultProtectsAsMuchAsAnyOther) {
  EXPECT_FALSE(this->once_and_commit({"s", "a"}, [](auto&) { return ""s; })->duplicate);
  EXPECT_FALSE(this->once_and_commit({"s", "b"}, [](auto&) {})->duplicate);
  for (const char* id : {"a", "b"}) {
    const Result<Once> again = this->once_and_commit({"s", id}, [](auto&) { return "ran"s; });
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->result, "");
  }
}

TYPED_TEST(OnceTest, ARolledBackFirstCallLeavesTheIdFree) {
  {
    typename TypeParam::Transaction tx = this->session_.begin().value();
    ASSERT_TRUE(once(tx, {"s", "a"}, [&](auto& t) { return TypeParam::insert_work(t, "a"); }));
  }
  EXPECT_EQ(this->works(), 0);
  EXPECT_FALSE(this->duplicate({"s", "a"}));
  EXPECT_TRUE(this->duplicate({"s", "a"}));
  EXPECT_EQ(this->works(), 1);
}

TYPED_TEST(OnceTest, FailedWorkBurnsNoIdWhenTheCallerCommitsAnyway) {
  const Result<Once> failed = this->once_and_commit({"s", "a"}, [&](auto& tx) -> Result<void> {
    EXPECT_TRUE(TypeParam::insert_work(tx, "a"));
    return Error(Code::work_failed, "no stock");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::work_failed);
  EXPECT_EQ(failed.error().detail(), "no stock");
  EXPECT_EQ(this->works(), 0);
  EXPECT_FALSE(this->duplicate({"s", "a"}));
}

TYPED_TEST(OnceTest, WorkThatThrowsBurnsNoIdAndTheExceptionPropagates) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  EXPECT_THROW(static_cast<void>(once(tx, {"s", "a"},
                                      [&](auto& t) {
                                        EXPECT_TRUE(TypeParam::insert_work(t, "a"));
                                        throw std::runtime_error("boom");
                                      })),
               std::runtime_error);
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(this->works(), 0);
  EXPECT_FALSE(this->duplicate({"s", "a"}));
}

TYPED_TEST(OnceTest, EarlierCallerWorkSurvivesAFailure) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  this->caller_.run("INSERT INTO work VALUES('before')");
  EXPECT_FALSE(
      once(tx, {"s", "a"}, [](auto&) -> Result<void> { return Error(Code::work_failed, "no"); }));
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(this->caller_.text("SELECT id FROM work"), "before");
}

TYPED_TEST(OnceTest, SeveralIdsInOneTransactionSucceedOrFailIndependently) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  const auto work = [](auto& t) { return TypeParam::insert_work(t, "x"); };
  EXPECT_FALSE(once(tx, {"s", "a"}, work)->duplicate);
  EXPECT_FALSE(
      once(tx, {"s", "b"}, [](auto&) -> Result<void> { return Error(Code::work_failed, "no"); }));
  EXPECT_TRUE(once(tx, {"s", "a"}, work)->duplicate);
  EXPECT_FALSE(once(tx, {"s", "b"}, work)->duplicate);
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(this->works(), 2);
}

TYPED_TEST(OnceTest, ANestedOnceIsRolledBackWithTheOuterOne) {
  const auto inner = [](auto& tx) { return TypeParam::insert_work(tx, "inner"); };
  const Result<Once> outer = this->once_and_commit({"s", "outer"}, [&](auto& tx) -> Result<void> {
    EXPECT_FALSE(once(tx, {"s", "inner"}, inner)->duplicate);
    return Error(Code::work_failed, "no");
  });
  EXPECT_FALSE(outer);
  EXPECT_EQ(this->works(), 0);
  EXPECT_FALSE(this->duplicate({"s", "inner"}));
}

TYPED_TEST(OnceTest, AnInnerFailureKeepsTheOuterWork) {
  const Result<Once> outer = this->once_and_commit({"s", "outer"}, [&](auto& tx) -> Result<void> {
    EXPECT_FALSE(once(tx, {"s", "inner"}, [](auto& t) -> Result<void> {
      EXPECT_TRUE(TypeParam::insert_work(t, "inner"));
      return Error(Code::work_failed, "no");
    }));
    return TypeParam::insert_work(tx, "outer");
  });
  EXPECT_TRUE(outer);
  EXPECT_EQ(this->works(), 1);
  EXPECT_EQ(this->caller_.text("SELECT id FROM work"), "outer");
  EXPECT_FALSE(this->duplicate({"s", "inner"}));
}

TYPED_TEST(OnceTest, WorksInATransactionOfTheCaller) {
  this->caller_.run("BEGIN");
  typename TypeParam::Tx tx = this->session_.join().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, [](auto& t) { return TypeParam::insert_work(t, "a"); }));
  this->caller_.run("ROLLBACK");
  EXPECT_FALSE(this->duplicate({"s", "a"}));
  this->caller_.run("BEGIN");
  EXPECT_TRUE(once(tx, {"s", "a"}, [](auto&) {})->duplicate);
  this->caller_.run("COMMIT");
}

TYPED_TEST(OnceTest, IsTheSameClaimAsDedup) {
  Store store = open(this->caller_.url(), {.clock = &this->clock_}).value();
  EXPECT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
  EXPECT_TRUE(this->duplicate({"s", "a"}));
  EXPECT_FALSE(this->duplicate({"s", "b"}));
  EXPECT_TRUE(store.dedup({.scope = "s", .id = "b"})->duplicate);
}

TYPED_TEST(OnceTest, AnExpiredIdRunsAgainAndDropsTheOldResult) {
  const OnceId what{"s", "a", std::chrono::seconds(10)};
  EXPECT_EQ(this->once_and_commit(what, [](auto&) { return "old"s; })->result, "old");
  this->clock_.advance(std::chrono::seconds(10));
  EXPECT_FALSE(this->once_and_commit(what, [](auto&) {})->duplicate);
  EXPECT_EQ(this->once_and_commit(what, [](auto&) {})->result, "");
}

TYPED_TEST(OnceTest, RejectsOversizedInputBeforeTheWorkRuns) {
  const std::string long_id(kMaxId + 1, 'x');
  const auto never = [](auto&) { ADD_FAILURE() << "the work ran"; };
  for (const OnceId& what : {OnceId{"", "a"}, OnceId{"s", ""}, OnceId{"s", long_id},
                             OnceId{"s", "a", std::chrono::milliseconds(0)}}) {
    EXPECT_EQ(this->once_and_commit(what, never).error().code(), Code::invalid_argument);
  }
}

TYPED_TEST(OnceTest, AResultTooLargeToStoreRollsBackTheWork) {
  const Result<Once> refused =
      this->once_and_commit({"s", "a"}, [](auto& tx) -> Result<std::string> {
        EXPECT_TRUE(TypeParam::insert_work(tx, "a"));
        return std::string(kMaxResult + 1, 'r');
      });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_EQ(this->works(), 0);
  EXPECT_FALSE(this->duplicate({"s", "a"}));
}

TYPED_TEST(OnceTest, WorkThatCommitsGetsAnUnknownOutcome) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  const Result<Once> broken = once(tx, {"s", "a"}, [&](auto&) { this->caller_.run("COMMIT"); });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), Code::not_in_transaction);
  EXPECT_EQ(broken.error().outcome(), Outcome::unknown);
}

TYPED_TEST(OnceTest, WorkThatCommitsAndThenFailsIsNotReportedAsUndone) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  const Result<Once> broken = once(tx, {"s", "a"}, [&](auto&) -> Result<void> {
    this->caller_.run("COMMIT; BEGIN");
    return Error(Code::work_failed, "no");
  });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().outcome(), Outcome::unknown);
}

TYPED_TEST(OnceTest, WorkThatRollsBackLeavesTheIdFree) {
  typename TypeParam::Transaction tx = this->session_.begin().value();
  const Result<Once> broken = once(tx, {"s", "a"}, [&](auto&) { this->caller_.run("ROLLBACK"); });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), Code::not_in_transaction);
  EXPECT_EQ(broken.error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(tx.commit());
  EXPECT_FALSE(this->duplicate({"s", "a"}));
}

}  // namespace
}  // namespace hapax
