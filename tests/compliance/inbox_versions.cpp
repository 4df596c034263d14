// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Versions: a delivery older than the last completed one of its lane is not delivered.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

Incoming version(std::int64_t version, const std::string& id = "") {
  return {.id = id.empty() ? std::to_string(version) : id, .order_key = "k", .version = version};
}

void an_older_version_than_the_completed_one_is_superseded(InboxSteps& steps) {
  steps.fresh(version(5));
  steps.deliver();
  const EventNo old = steps.fresh(version(4));
  const EventNo next = steps.fresh(version(6));
  const Lease first = steps.lease("dst");
  EXPECT_TRUE(first.deliveries.empty());
  EXPECT_EQ(first.passed, 1U);
  EXPECT_EQ(steps.state(old), DeliveryState::superseded);
  EXPECT_TRUE(steps.row(old).ended);
  EXPECT_EQ(steps.row(old).attempts, 0U);
  EXPECT_EQ(steps.lease_one().event.no, next);
}

void an_equal_version_is_delivered(InboxSteps& steps) {
  steps.fresh(version(5));
  steps.deliver();
  steps.fresh(version(5, "again"));
  EXPECT_EQ(steps.lease_one().event.id, "again");
}

void only_completed_deliveries_supersede(InboxSteps& steps) {
  steps.fresh(version(9));
  steps.kill(steps.lease_one());
  steps.fresh(version(8));
  EXPECT_EQ(steps.settle(steps.lease_one(), Drop{}), Settled::ok);
  steps.fresh(version(7));
  EXPECT_EQ(steps.cancel(steps.lease_one().event.no), Cancelled::done);
  steps.fresh(version(6));
  const Leased head = steps.lease_one();
  EXPECT_EQ(head.event.id, "6");
  steps.fresh(version(5));
  EXPECT_EQ(steps.settle(head, RetryIn{}), Settled::ok);
  steps.deliver();
  EXPECT_TRUE(steps.lease_all("dst").empty()) << "5 is older than the completed 6";
}

void a_delivery_without_a_version_is_not_compared_and_changes_nothing(InboxSteps& steps) {
  steps.fresh(version(5));
  steps.deliver();
  steps.fresh({.id = "none", .order_key = "k"});
  steps.deliver();
  const EventNo old = steps.fresh(version(4));
  EXPECT_TRUE(steps.lease_all("dst").empty());
  EXPECT_EQ(steps.state(old), DeliveryState::superseded);
}

void versions_may_be_any_integers(InboxSteps& steps) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  steps.fresh(version(kLowest));
  steps.deliver();
  steps.fresh(version(-1));
  steps.deliver();
  const EventNo lowest = steps.fresh(version(kLowest, "again"));
  steps.fresh(version(0));
  steps.fresh(version(kHighest));
  EXPECT_TRUE(steps.lease("dst").deliveries.empty());
  EXPECT_EQ(steps.state(lowest), DeliveryState::superseded);
  steps.deliver();
  steps.deliver();
  const EventNo low = steps.fresh(version(kHighest - 1));
  EXPECT_TRUE(steps.lease_all("dst").empty());
  EXPECT_EQ(steps.state(low), DeliveryState::superseded);
}

void a_version_counts_on_its_own_lane_only(InboxSteps& steps) {
  steps.fresh({.id = "new", .order_key = "k", .version = 9, .to = {"one"}});
  steps.deliver("one");
  steps.fresh({.id = "other lane", .order_key = "l", .version = 1, .to = {"one"}});
  EXPECT_EQ(ids(steps.lease_all("one")), "other lane");
  steps.fresh({.id = "other destination", .order_key = "k", .version = 1, .to = {"two"}});
  EXPECT_EQ(ids(steps.lease_all("two")), "other destination");
  steps.fresh({.id = "no lane", .order_key = "", .version = 1, .to = {"one"}});
  EXPECT_EQ(ids(steps.lease_all("one")), "no lane");
}

void a_waiting_delivery_is_superseded_when_it_becomes_head(InboxSteps& steps) {
  steps.fresh(version(9));
  std::vector<EventNo> old;
  for (std::int64_t i = 1; i <= 5; ++i) old.push_back(steps.fresh(version(i)));
  steps.fresh(version(10));
  steps.deliver();
  for (const EventNo each : old) EXPECT_EQ(steps.state(each), DeliveryState::superseded);
  EXPECT_EQ(steps.lease_one().event.id, "10");
}

void a_backlog_is_superseded_in_bounded_steps(InboxSteps& steps) {
  constexpr std::int64_t kBacklog = 200;
  steps.fresh(version(1000));
  std::vector<EventNo> old;
  for (std::int64_t i = 1; i <= kBacklog; ++i) old.push_back(steps.fresh(version(i)));
  steps.fresh(version(1001));
  const auto superseded = [&] {
    return steps.list({.status = DeliveryState::superseded}, kMaxPage).size();
  };
  steps.deliver();
  EXPECT_EQ(superseded(), kMaxSuperseded);
  const Lease first = steps.lease("dst", {.max = 10});
  EXPECT_EQ(first.passed, 1U);
  EXPECT_EQ(superseded(), 2 * kMaxSuperseded);
  EXPECT_EQ(ids(steps.lease_all("dst")), "1001");
  EXPECT_EQ(superseded(), static_cast<std::size_t>(kBacklog));
}

void a_lane_remembers_its_version_from_its_last_change(InboxSteps& steps) {
  const auto arrives = [&](std::int64_t number, const char* id) {
    Incoming arrival = version(number, id);
    arrival.remember = hours(1);
    return steps.fresh(arrival);
  };
  arrives(5, "a");
  steps.deliver();
  steps.advance(minutes(30));
  arrives(5, "b");  // equal: no change
  steps.deliver();
  steps.advance(minutes(30) - milliseconds(1));
  arrives(4, "c");
  EXPECT_TRUE(steps.lease_all("dst").empty());
  steps.advance(milliseconds(1));
  steps.sweep(hours(1), hours(1));
  arrives(3, "d");
  EXPECT_EQ(ids(steps.leased("dst")), "d") << "5 is forgotten";
}

void a_replay_is_not_compared_and_changes_nothing(InboxSteps& steps) {
  steps.fresh(version(5));
  steps.deliver();
  const EventNo old = steps.fresh(version(4));
  EXPECT_EQ(steps.lease("dst").passed, 1U);
  EXPECT_EQ(steps.replay({.event = old}).status, Replayed::Status::done);
  steps.deliver();
  EXPECT_EQ(steps.state(old), DeliveryState::completed);
  const EventNo dead = steps.fresh(version(9));
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.replay({.event = dead}).status, Replayed::Status::done);
  steps.deliver();
  steps.fresh(version(6));
  EXPECT_EQ(steps.lease_one().event.id, "6") << "the replay of 9 did not change the version";
}

void in_observe_mode_an_older_version_is_delivered(InboxSteps& steps) {
  EXPECT_EQ(steps.admit(version(5), Would::none, false).kind, Admission::Kind::fresh);
  steps.deliver();
  EXPECT_EQ(steps.admit(version(4), Would::none, false).kind, Admission::Kind::fresh);
  steps.deliver();
  steps.fresh(version(3));
  EXPECT_TRUE(steps.lease_all("dst").empty()) << "completed versions are still recorded";
  steps.fresh(version(5, "equal"));
  EXPECT_EQ(ids(steps.lease_all("dst")), "equal") << "4 did not change the version";
}

constexpr InboxCase kVersionsCases[] = {
    {"AnOlderVersionThanTheCompletedOneIsSuperseded",
     an_older_version_than_the_completed_one_is_superseded},
    {"AnEqualVersionIsDelivered", an_equal_version_is_delivered},
    {"OnlyCompletedDeliveriesSupersede", only_completed_deliveries_supersede},
    {"ADeliveryWithoutAVersionIsNotComparedAndChangesNothing",
     a_delivery_without_a_version_is_not_compared_and_changes_nothing},
    {"VersionsMayBeAnyIntegers", versions_may_be_any_integers},
    {"AVersionCountsOnItsOwnLaneOnly", a_version_counts_on_its_own_lane_only},
    {"AWaitingDeliveryIsSupersededWhenItBecomesHead",
     a_waiting_delivery_is_superseded_when_it_becomes_head},
    {"ABacklogIsSupersededInBoundedSteps", a_backlog_is_superseded_in_bounded_steps},
    {"ALaneRemembersItsVersionFromItsLastChange",
     a_lane_remembers_its_version_from_its_last_change},
    {"AReplayIsNotComparedAndChangesNothing", a_replay_is_not_compared_and_changes_nothing},
    {"InObserveModeAnOlderVersionIsDelivered", in_observe_mode_an_older_version_is_delivered},
};

}  // namespace

std::span<const InboxCase> version_cases() {
  return kVersionsCases;
}

}  // namespace hapax::test
