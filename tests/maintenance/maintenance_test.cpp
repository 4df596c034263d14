// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/maintenance.hpp"

#include "base/sha256.hpp"
#include "maintenance/faulty_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>

// Rounds of maintenance on a manual clock, without the thread unless it is under test.
namespace hapax::maintenance {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Fault = store::fault::Fault;

constexpr SourceNo kSource(1);
constexpr hours kKeep(1);
constexpr std::size_t kStepsAtOnce = 20;  // steps of a sweep per round
constexpr int kRowsAtOnce = 500;          // rows per step

std::size_t count(const std::vector<std::string>& calls, const std::string& operation) {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), operation));
}

class MaintenanceTest : public testing::Test {
 protected:
  MaintenanceTest() {
    maintenance_.set_retention({{.source = kSource, .keep = kKeep, .keep_dead = kKeep}});
  }

  // Runs a round, one second after the previous one.
  void round() {
    store_.clock.advance(seconds(1));
    maintenance_.once_a_second();
  }
  std::vector<std::string> calls_of_round() {
    store_.calls();
    round();
    return store_.calls();
  }

  void admit(std::int64_t number) {
    const std::string id = std::to_string(number);
    const store::Arrival arrival{.no = EventNo(number),
                                 .source = kSource,
                                 .key = id,
                                 .id = id,
                                 .digest = sha256(id),
                                 .body = id};
    const store::Admit request{.arrivals = std::span(&arrival, 1)};
    ASSERT_TRUE(
        store_.without_faults().queue->write({.admit = std::span(&request, 1)}).admit.at(0));
  }
  void admit_up_to(std::int64_t number) {
    for (std::int64_t i = 1; i <= number; ++i) admit(i);
  }
  bool has(std::int64_t number) {
    return store_.without_faults().catalog->event(EventNo(number))->value.has_value();
  }
  std::uint64_t duplicates_of(std::int64_t number) {
    return store_.without_faults().catalog->event(EventNo(number))->value->row.duplicates;
  }
  std::string variant_of(std::int64_t number) {
    return store_.without_faults()
        .catalog->body(EventNo(number), store::BodyOf::last_variant)
        ->value.value_or("");
  }

  // Claims dedup ids that expire after one second.
  void claim_ids(int number) {
    std::vector<store::DedupItem> items;
    for (int i = 0; i < number; ++i) {
      items.push_back({"id " + std::to_string(i), make_token(), milliseconds(1000)});
    }
    ASSERT_TRUE(store_.without_faults().claims->dedup(items));
  }
  std::size_t purge_remaining_ids() {
    return store_.without_faults().claims->purge(100'000).value().removed;
  }

  test::FaultyStore store_;
  test::LinesLog log_;
  gateway::NodeNumbers numbers_{store_.clock};
  gateway::DuplicateCounts duplicates_;
  const Token owner_ = make_token();
  std::function<void()> every_second_ = [] {};
  Maintenance maintenance_{{store_.driver(), store_.driver(), store_.driver(), numbers_,
                            duplicates_, store_.clock, log_},
                           owner_,
                           [this] { every_second_(); }};
};

// Node number.

TEST_F(MaintenanceTest, TakeNodeAssignsANumber) {
  EXPECT_FALSE(numbers_.next());
  ASSERT_TRUE(maintenance_.take_node());
  EXPECT_TRUE(numbers_.next());
  EXPECT_EQ(*numbers_.node(), store_.without_faults().node->take_node(owner_, kNodeLease).value());
}

TEST_F(MaintenanceTest, WithoutTheStoreTheNodeHasNoNumber) {
  store_.fail("take_node");
  const Result<void> taken = maintenance_.take_node();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::store_unavailable);
  EXPECT_FALSE(numbers_.next());
}

TEST_F(MaintenanceTest, TheNodeNumberIsRenewedLongBeforeItExpires) {
  ASSERT_TRUE(maintenance_.take_node());
  store_.calls();
  for (seconds passed{0}; passed < 10 * kNodeLease; passed += seconds(1)) {
    round();
    ASSERT_TRUE(numbers_.next()) << "after " << passed.count() << " s";
  }
  EXPECT_EQ(count(store_.calls(), "take_node"), 10 * kNodeLease / kRenewNode);
}

// The store's lease begins at an unknown time during the call, so only the lower bound is trusted.
TEST_F(MaintenanceTest, TheLeaseCountsFromTheStartOfTheCall) {
  store_.during("take_node", [&] { store_.clock.advance(seconds(10)); });
  ASSERT_TRUE(maintenance_.take_node());
  store_.clock.advance(kNodeLease - seconds(10) - milliseconds(1));
  EXPECT_TRUE(numbers_.next());
  store_.clock.advance(milliseconds(1));
  EXPECT_FALSE(numbers_.next());
}

TEST_F(MaintenanceTest, AFailedRenewalIsRetriedASecondLater) {
  ASSERT_TRUE(maintenance_.take_node());
  store_.clock.advance(kRenewNode);
  store_.fail("take_node");
  EXPECT_EQ(count(calls_of_round(), "take_node"), 1);
  EXPECT_EQ(count(calls_of_round(), "take_node"), 1);
  EXPECT_EQ(log_.of("node number not renewed").size(), 2);
  store_.recover();
  EXPECT_EQ(count(calls_of_round(), "take_node"), 1);
  EXPECT_EQ(count(calls_of_round(), "take_node"), 0);
}

TEST_F(MaintenanceTest, NoNumbersAreAssignedAfterTheLeaseHasExpired) {
  ASSERT_TRUE(maintenance_.take_node());
  store_.fail("take_node");
  store_.clock.advance(kNodeLease);
  round();
  EXPECT_FALSE(numbers_.next());
  store_.recover();
  round();
  EXPECT_TRUE(numbers_.next());
}

// Duplicates.

TEST_F(MaintenanceTest, DuplicatesAreCountedInTheStore) {
  admit_up_to(2);
  duplicates_.count(EventNo(1));
  duplicates_.count_changed(EventNo(1), sha256("other"), store_.clock.wall(), "other");
  duplicates_.count(EventNo(2));
  round();
  EXPECT_EQ(duplicates_of(1), 2);
  EXPECT_EQ(variant_of(1), "other");
  EXPECT_EQ(duplicates_of(2), 1);
  round();
  EXPECT_EQ(duplicates_of(1), 2);
}

TEST_F(MaintenanceTest, ManyDuplicatesAreCountedInOneRound) {
  constexpr std::int64_t kEvents = 1000;
  admit_up_to(kEvents);
  for (std::int64_t i = 1; i <= kEvents; ++i) duplicates_.count(EventNo(i));
  round();
  EXPECT_EQ(duplicates_of(1), 1);
  EXPECT_EQ(duplicates_of(kEvents), 1);
}

TEST_F(MaintenanceTest, DuplicatesAreKeptWhileTheStoreIsUnavailable) {
  admit_up_to(2);
  duplicates_.count(EventNo(1));
  duplicates_.count_changed(EventNo(2), sha256("other"), store_.clock.wall(), "other");
  store_.fail("note_duplicates");
  round();
  round();
  EXPECT_EQ(log_.of("duplicates not counted").size(), 2);
  store_.recover();
  round();
  EXPECT_EQ(duplicates_of(1), 1);
  EXPECT_EQ(duplicates_of(2), 1);
  EXPECT_EQ(variant_of(2), "other");
}

TEST_F(MaintenanceTest, DuplicatesDuringAFailedWriteAreKeptToo) {
  admit(1);
  duplicates_.count_changed(EventNo(1), sha256("first"), store_.clock.wall(), "first");
  store_.fail("note_duplicates");
  store_.during("note_duplicates", [&] {
    duplicates_.count_changed(EventNo(1), sha256("second"), store_.clock.wall(), "second");
  });
  round();
  store_.during("note_duplicates", [] {});
  store_.recover();
  round();
  EXPECT_EQ(duplicates_of(1), 2);
  EXPECT_EQ(variant_of(1), "second") << "the last variant is kept";
}

TEST_F(MaintenanceTest, DuplicatesThatMayHaveBeenCountedAreNotCountedAgain) {
  admit(1);
  duplicates_.count(EventNo(1));
  store_.fail("note_duplicates", Fault::lose_answer);
  round();
  store_.recover();
  round();
  EXPECT_EQ(duplicates_of(1), 1);
}

TEST_F(MaintenanceTest, KeptDuplicatesStayBounded) {
  constexpr auto kMost = static_cast<std::int64_t>(gateway::DuplicateCounts::kMaxEvents);
  admit_up_to(kMost + 1);
  for (std::int64_t i = 1; i <= kMost; ++i) duplicates_.count(EventNo(i));
  store_.fail("note_duplicates");
  store_.during("note_duplicates", [&] { duplicates_.count(EventNo(kMost + 1)); });
  round();
  store_.during("note_duplicates", [] {});
  store_.recover();
  round();
  round();
  std::uint64_t counted = 0;
  for (std::int64_t i = 1; i <= kMost + 1; ++i) counted += duplicates_of(i);
  EXPECT_EQ(counted, kMost);
}

// Sweeps.

TEST_F(MaintenanceTest, ExpiredEventsAreRemoved) {
  admit_up_to(2);
  claim_ids(2);
  store_.clock.advance(kKeep - seconds(1) - milliseconds(1));
  round();
  EXPECT_TRUE(has(1));
  EXPECT_EQ(purge_remaining_ids(), 0);
  store_.clock.advance(seconds(31));
  round();
  EXPECT_FALSE(has(1));
  EXPECT_FALSE(has(2));
}

TEST_F(MaintenanceTest, ACompletedSweepPausesForHalfAMinute) {
  EXPECT_EQ(count(calls_of_round(), "sweep"), 1);
  for (int i = 1; i < 30; ++i) ASSERT_EQ(count(calls_of_round(), "sweep"), 0) << i;
  const std::vector<std::string> later = calls_of_round();
  EXPECT_EQ(count(later, "sweep"), 1);
  EXPECT_EQ(count(later, "purge"), 1);
}

TEST_F(MaintenanceTest, ALongSweepContinuesInTheNextRound) {
  claim_ids((static_cast<int>(kStepsAtOnce) + 5) * kRowsAtOnce);
  store_.clock.advance(seconds(2));
  const std::vector<std::string> first = calls_of_round();
  EXPECT_EQ(count(first, "sweep") + count(first, "purge"), kStepsAtOnce);
  const std::vector<std::string> second = calls_of_round();
  EXPECT_EQ(count(second, "sweep"), 0) << "the first round has checked all events";
  EXPECT_EQ(purge_remaining_ids(), 0);
  EXPECT_TRUE(calls_of_round().empty()) << "the sweep is complete";
}

TEST_F(MaintenanceTest, ALongSweepPausesTenTimesAsLongAsItTook) {
  constexpr int kRounds = 10;
  claim_ids(kRounds * static_cast<int>(kStepsAtOnce) * kRowsAtOnce);
  store_.clock.advance(seconds(2));
  for (int i = 0; i < kRounds; ++i) ASSERT_GT(count(calls_of_round(), "purge"), 0) << i;
  round();
  EXPECT_EQ(purge_remaining_ids(), 0);
  for (int i = 0; i < 90; ++i) ASSERT_EQ(count(calls_of_round(), "sweep"), 0) << i;
  store_.clock.advance(seconds(20));
  EXPECT_EQ(count(calls_of_round(), "sweep"), 1);
}

TEST_F(MaintenanceTest, PartitionsAreCreatedAheadEveryMinute) {
  EXPECT_EQ(count(calls_of_round(), "make_ahead"), 1);
  for (int i = 1; i < 60; ++i) ASSERT_EQ(count(calls_of_round(), "make_ahead"), 0) << i;
  store_.fail("make_ahead");
  EXPECT_EQ(count(calls_of_round(), "make_ahead"), 1);
  EXPECT_EQ(log_.of("partitions for tomorrow not created").size(), 1);
  store_.recover();
  store_.clock.advance(seconds(60));
  EXPECT_EQ(count(calls_of_round(), "make_ahead"), 1) << "the failed call is retried";
  EXPECT_EQ(log_.of("partitions for tomorrow not created").size(), 1);
}

TEST_F(MaintenanceTest, AFailedSweepDoesNotBlockThePurgeOfIds) {
  store_.fail("sweep");
  claim_ids(2);
  store_.clock.advance(seconds(2));
  round();
  EXPECT_EQ(purge_remaining_ids(), 0);
}

TEST_F(MaintenanceTest, ExpiredIdsAreRemovedWhileManyEventsAreKept) {
  constexpr int kSteps = 5;
  admit_up_to(kSteps * kRowsAtOnce);
  claim_ids(kSteps * kRowsAtOnce);
  store_.clock.advance(seconds(2));
  round();
  EXPECT_EQ(purge_remaining_ids(), 0);
}

TEST_F(MaintenanceTest, ASweepReadsEventsOnceHoweverManyIdsItRemoves) {
  constexpr std::size_t kIdSteps = 40;
  const auto sweeps_and_purges = [&] {
    std::vector<std::string> all;
    for (auto calls = calls_of_round(); !calls.empty(); calls = calls_of_round()) {
      all.insert(all.end(), calls.begin(), calls.end());
    }
    return std::pair(count(all, "sweep"), count(all, "purge"));
  };
  admit_up_to(5 * kRowsAtOnce);
  const auto [sweeps, purges] = sweeps_and_purges();
  EXPECT_EQ(purges, 1);
  claim_ids(kIdSteps * kRowsAtOnce);
  store_.clock.advance(seconds(30));
  const auto [sweeps_with_ids, purges_of_ids] = sweeps_and_purges();
  EXPECT_EQ(sweeps_with_ids, sweeps);
  EXPECT_GE(purges_of_ids, kIdSteps);
  EXPECT_LE(purges_of_ids, kIdSteps + 1);
  EXPECT_EQ(purge_remaining_ids(), 0);
}

TEST_F(MaintenanceTest, SetRetentionReplacesThePeriods) {
  admit(1);
  maintenance_.set_retention({});
  store_.clock.advance(2 * kKeep);
  round();
  EXPECT_TRUE(has(1)) << "a source without a retention period keeps its events";
  maintenance_.set_retention({{.source = kSource, .keep = 3 * kKeep, .keep_dead = 3 * kKeep}});
  store_.clock.advance(seconds(30));
  round();
  EXPECT_TRUE(has(1));
  maintenance_.set_retention({{.source = kSource, .keep = kKeep, .keep_dead = kKeep}});
  store_.clock.advance(seconds(30));
  round();
  EXPECT_FALSE(has(1));
}

TEST_F(MaintenanceTest, AFailedSweepIsRetriedASecondLaterAndLoggedOncePerRound) {
  for (const std::string operation : {"sweep", "purge"}) {
    admit(1);
    store_.clock.advance(kKeep);
    store_.fail(operation);
    const std::size_t before = log_.of("retention failed").size();
    EXPECT_EQ(count(calls_of_round(), operation), 1);
    EXPECT_EQ(count(calls_of_round(), operation), 1);
    ASSERT_EQ(log_.of("retention failed").size(), before + 2);
    EXPECT_THAT(log_.of("retention failed").back()["error"],
                testing::HasSubstr("store-unavailable"));
    store_.recover();
    round();
    EXPECT_FALSE(has(1));
    EXPECT_EQ(log_.of("retention failed").size(), before + 2);
    store_.clock.advance(seconds(30));
  }
}

TEST_F(MaintenanceTest, AFailedSweepIsRetriedAfterManyRoundsOfIds) {
  admit(1);
  claim_ids(3 * static_cast<int>(kStepsAtOnce) * kRowsAtOnce);
  store_.clock.advance(kKeep);
  store_.fail("sweep");
  EXPECT_EQ(count(calls_of_round(), "sweep"), 1);
  store_.recover();
  for (int i = 0; i < 5; ++i) round();
  EXPECT_FALSE(has(1)) << "the pass with the failure is followed by another";
}

// Complete rounds, start and stop.

TEST_F(MaintenanceTest, EverySecondIsCalledLastInEachRound) {
  std::vector<std::string> before;
  every_second_ = [&] { before = store_.calls(); };
  ASSERT_TRUE(maintenance_.take_node());
  admit(1);
  duplicates_.count(EventNo(1));
  store_.clock.advance(kRenewNode);
  EXPECT_TRUE(calls_of_round().empty());
  EXPECT_EQ(count(before, "take_node"), 1);
  EXPECT_EQ(count(before, "note_duplicates"), 1);
  EXPECT_EQ(count(before, "sweep"), 1);
  before.clear();
  store_.clock.advance(kRenewNode);
  round();
  EXPECT_EQ(count(before, "take_node"), 1);
}

TEST_F(MaintenanceTest, EachRoundCompletesWithoutTheStore) {
  for (const char* operation : {"take_node", "note_duplicates", "sweep"}) store_.fail(operation);
  int called = 0;
  every_second_ = [&] { ++called; };
  admit(1);
  duplicates_.count(EventNo(1));
  store_.clock.advance(kRenewNode);
  round();
  round();
  EXPECT_EQ(called, 2);
}

TEST_F(MaintenanceTest, TheThreadStartsWithARound) {
  std::latch called(1);
  every_second_ = [&] { called.count_down(); };
  maintenance_.start();
  called.wait();
  maintenance_.stop();
}

TEST_F(MaintenanceTest, StopWritesTheMaximumOfDuplicates) {
  constexpr auto kMost = static_cast<std::int64_t>(gateway::DuplicateCounts::kMaxEvents);
  admit_up_to(kMost);
  std::latch called(1);
  every_second_ = [&] { called.count_down(); };
  maintenance_.start();
  called.wait();
  for (std::int64_t i = 1; i <= kMost; ++i) duplicates_.count(EventNo(i));
  maintenance_.stop();
  for (std::int64_t i = 1; i <= kMost; ++i) ASSERT_EQ(duplicates_of(i), 1) << i;
}

TEST_F(MaintenanceTest, StopReleasesTheNodeNumber) {
  ASSERT_TRUE(maintenance_.take_node());
  const NodeNo node = *numbers_.node();
  maintenance_.start();
  maintenance_.stop();
  // An owner with a number gets the same one again; otherwise it gets one that was never used.
  EXPECT_NE(store_.without_faults().node->take_node(owner_, kNodeLease).value(), node);
}

TEST_F(MaintenanceTest, ANodeNumberThatCannotBeReleasedIsLogged) {
  store_.fail("leave_node");
  maintenance_.start();
  maintenance_.stop();
  EXPECT_EQ(log_.of("node number not released").size(), 1);
}

}  // namespace
}  // namespace hapax::maintenance
