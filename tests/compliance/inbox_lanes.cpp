// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Lanes: deliveries with the same order key are delivered in order.
#include "compliance/inbox_suite.hpp"

#include <mutex>

namespace hapax::test {

namespace {

Incoming in_lane(const std::string& id, const std::string& order_key = "k") {
  return {.id = id, .order_key = order_key};
}

void only_the_head_of_a_lane_can_be_leased(InboxSteps& steps) {
  steps.fresh(in_lane("a"));
  const EventNo second = steps.fresh(in_lane("b"));
  steps.fresh(in_lane("c"));
  EXPECT_TRUE(steps.row(second).waiting);
  for (const char* expected : {"a", "b", "c"}) {
    const std::vector<Leased> head = steps.leased("dst", {.max = 10});
    ASSERT_EQ(ids(head), expected);
    EXPECT_TRUE(steps.nothing_due());
    steps.ack(head.front());
  }
  EXPECT_FALSE(steps.row(second).waiting);
}

void a_lane_waits_while_its_head_waits_for_a_retry(InboxSteps& steps) {
  steps.fresh(in_lane("a"));
  steps.fresh(in_lane("b"));
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{minutes(5)}), Settled::ok);
  steps.fresh(in_lane("c"));
  steps.advance(minutes(4));
  EXPECT_TRUE(steps.nothing_due());
  steps.advance(minutes(1));
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a");
}

void lanes_do_not_wait_for_each_other(InboxSteps& steps) {
  steps.fresh({.id = "1", .source = "x", .tenant = "t", .order_key = "k"});
  steps.fresh({.id = "2", .source = "y", .tenant = "t", .order_key = "k"});
  steps.fresh({.id = "3", .source = "x", .tenant = "u", .order_key = "k"});
  steps.fresh({.id = "4", .source = "x", .tenant = "", .order_key = "tk"});
  steps.fresh({.id = "5", .source = "x", .tenant = "t", .order_key = "K"});
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "1 2 3 4 5");
}

void a_lane_belongs_to_one_destination(InboxSteps& steps) {
  steps.fresh({.id = "a", .order_key = "k", .to = {"one", "two"}});
  steps.fresh({.id = "b", .order_key = "k", .to = {"one", "two"}});
  steps.deliver("one");
  EXPECT_EQ(ids(steps.leased("one", {.max = 10})), "b");
  EXPECT_EQ(ids(steps.leased("two", {.max = 10})), "a");
}

void without_an_order_key_there_is_no_lane(InboxSteps& steps) {
  steps.fresh_many(3, {});
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "0 1 2");
}

void a_request_keeps_its_order_in_the_lane(InboxSteps& steps) {
  ASSERT_TRUE(steps.admit_together({in_lane("z"), in_lane("m"), in_lane("a"), in_lane("q")}));
  for (const char* expected : {"z", "m", "a", "q"}) {
    const Leased head = steps.lease_one();
    EXPECT_EQ(head.event.id, expected);
    steps.ack(head);
  }
}

// Event numbers are drawn before the transaction; a lane follows the order of the commits.
void a_lane_follows_the_order_of_commits_not_of_numbers(InboxSteps& steps) {
  const EventNo low = steps.new_number();
  const EventNo high = steps.new_number();
  steps.fresh({.id = "first", .order_key = "k", .no = high});
  steps.fresh({.id = "second", .order_key = "k", .no = low});
  EXPECT_EQ(steps.lease_one().event.id, "first");
}

void an_ended_head_releases_the_next_delivery(InboxSteps& steps) {
  const std::vector<Disposition> ends{Ack{}, Drop{}, Dead{EndReason::exhausted, OnDead::skip}};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string lane = std::to_string(i);
    steps.fresh(in_lane(lane + "a", lane));
    steps.fresh(in_lane(lane + "b", lane));
    EXPECT_EQ(steps.settle(steps.lease_one(), ends[i]), Settled::ok);
    const Leased next = steps.lease_one();
    EXPECT_EQ(next.event.id, lane + "b");
    steps.ack(next);
  }
}

void a_dead_head_blocks_its_lane_when_configured(InboxSteps& steps) {
  const EventNo head = steps.fresh(in_lane("a"));
  steps.fresh(in_lane("b"));
  steps.fresh(in_lane("x", "other"));
  steps.kill(steps.lease_one(), OnDead::block);
  EXPECT_EQ(steps.state(head), DeliveryState::dead);
  EXPECT_TRUE(steps.row(head).blocking);
  steps.advance(24 * days);
  EXPECT_EQ(ids(steps.lease_all("dst")), "x") << "other lanes continue";
  EXPECT_EQ(steps.cancel(head), Cancelled::done);
  EXPECT_FALSE(steps.row(head).blocking);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "b");
}

void an_abandoned_head_blocks_or_skips_as_its_lease_requires(InboxSteps& steps) {
  for (const OnDead on_dead : {OnDead::skip, OnDead::block}) {
    const std::string lane = on_dead == OnDead::skip ? "skip" : "block";
    const EventNo head = steps.fresh({.id = lane + "a", .order_key = lane, .to = {lane}});
    steps.fresh({.id = lane + "b", .order_key = lane, .to = {lane}});
    steps.lease_one(lane, {.lease = seconds(1), .holder = kPull});
    steps.advance(seconds(1));
    const Lease none =
        steps.lease(lane, {.max = 10, .holder = kPull, .max_abandons = 1, .on_dead = on_dead});
    EXPECT_TRUE(none.deliveries.empty()) << "the next delivery needs another call";
    EXPECT_EQ(none.passed, 1U);
    EXPECT_EQ(steps.row(head).blocking, on_dead == OnDead::block);
    EXPECT_EQ(ids(steps.lease_all(lane)), on_dead == OnDead::skip ? "skipb" : "");
  }
}

void a_dead_delivery_without_a_lane_blocks_nothing(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a"});
  steps.fresh({.id = "b"});
  steps.kill(steps.lease_one(), OnDead::block);
  EXPECT_FALSE(steps.row(event).blocking);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "b");
}

void a_cancel_in_the_middle_of_a_lane_leaves_the_rest_in_order(InboxSteps& steps) {
  steps.fresh(in_lane("a"));
  const EventNo middle = steps.fresh(in_lane("b"));
  steps.fresh(in_lane("c"));
  EXPECT_EQ(steps.cancel(middle), Cancelled::done);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a");
  steps.advance(seconds(30));
  steps.deliver();
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "c");
}

void a_cancelled_head_releases_the_next_delivery(InboxSteps& steps) {
  const EventNo head = steps.fresh(in_lane("a"));
  steps.fresh(in_lane("b"));
  const Leased lease = steps.lease_one();
  EXPECT_EQ(steps.cancel(head), Cancelled::done);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "b");
  EXPECT_EQ(steps.settle(lease, Ack{}), Settled::stale);
}

// graphile-worker #254, #449: a crash left a queue locked for hours; a job at its last attempt kept
// the lock.
void a_lane_continues_when_the_holder_of_its_head_died(InboxSteps& steps) {
  steps.fresh(in_lane("a"));
  steps.fresh(in_lane("b"));
  steps.lease_one();  // never settled
  steps.advance(seconds(30));
  const Leased again = steps.lease_one();
  EXPECT_EQ(again.event.id, "a");
  steps.kill(again);
  EXPECT_EQ(steps.lease_one().event.id, "b");
}

// Solid Queue #761: a late finalizer released the concurrency limit a second time, and eleven jobs
// ran where one was allowed.
void a_stale_settle_does_not_advance_a_lane_again(InboxSteps& steps) {
  for (const char* id : {"a", "b", "c"}) steps.fresh(in_lane(id));
  const Leased late = steps.lease_one();
  steps.advance(seconds(30));
  const Leased again = steps.lease_one();
  steps.ack(again);
  const Leased second = steps.lease_one();
  EXPECT_EQ(second.event.id, "b");
  EXPECT_EQ(steps.settle(late, Drop{}), Settled::stale);
  EXPECT_EQ(steps.settle(again, Ack{}), Settled::ok) << "the ack repeated";
  EXPECT_EQ(steps.cancel(again.event.no), Cancelled::not_possible);
  EXPECT_TRUE(steps.nothing_due()) << "c waits for b";
  steps.ack(second);
  EXPECT_EQ(steps.lease_one().event.id, "c");
  EXPECT_TRUE(steps.nothing_due());
}

void an_emptied_lane_can_be_used_again(InboxSteps& steps) {
  for (int i = 0; i < 3; ++i) {
    steps.fresh(in_lane(std::to_string(i)));
    EXPECT_EQ(steps.lease_one().event.id, std::to_string(i));
    steps.advance(seconds(30));
    steps.deliver();
    steps.sweep(hours(1), hours(1));
  }
}

void blocked_lanes_do_not_hide_ready_deliveries(InboxSteps& steps) {
  for (int lane = 0; lane < 20; ++lane) {
    steps.fresh(in_lane(std::to_string(lane) + "a", std::to_string(lane)));
    steps.fresh(in_lane(std::to_string(lane) + "b", std::to_string(lane)));
    steps.kill(steps.lease_one(), OnDead::block);
  }
  steps.fresh(in_lane("free", "free"));
  const Lease found = steps.lease("dst", {.max = 1});
  EXPECT_EQ(ids(found.deliveries), "free") << "one lease call is enough";
}

void a_would_be_duplicate_is_outside_its_lane(InboxSteps& steps) {
  const EventNo head = steps.fresh(in_lane("a"));
  EXPECT_EQ(steps.admit(in_lane("a"), Would::duplicate).kind, Admission::Kind::fresh);
  steps.fresh(in_lane("b"));
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a a");
  EXPECT_EQ(steps.state(head), DeliveryState::leased);
}

// The order of every lane is strict, regardless of worker and failures.
void eight_workers_keep_every_lane_in_order(InboxSteps& steps) {
  constexpr int kLanes = 20;
  constexpr int kEach = 10;
  std::vector<Incoming> arrivals;
  for (int i = 0; i < kEach; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      arrivals.push_back(
          in_lane(std::to_string(lane) + ":" + std::to_string(i), std::to_string(lane)));
    }
  }
  ASSERT_TRUE(steps.admit_together(arrivals));
  const DestinationNo from = steps.destination("dst");
  std::mutex mutex;
  std::map<std::string, int> done;  // by lane
  int all = 0;
  all_at_once(8, [&](int thread) {
    for (int round = 0; round < 100'000; ++round) {
      {
        const std::lock_guard lock(mutex);
        if (all == kLanes * kEach) return;
      }
      const LeaseRequest request{
          .from = from, .max = 3, .lease = minutes(5), .holder = {Holder::Kind::push, thread}};
      const auto leases = steps.same().queue->write({.lease = std::span(&request, 1)}).lease;
      ASSERT_TRUE(leases) << leases.error().to_string();
      for (const Leased& each : leases->front().deliveries) {
        const bool fails = (each.fence.value() + thread) % 3 == 0;
        if (!fails) {
          const std::lock_guard lock(mutex);
          const std::size_t colon = each.event.id.find(':');
          const std::string lane = each.event.id.substr(0, colon);
          ASSERT_EQ(std::to_string(done[lane]++), each.event.id.substr(colon + 1)) << lane;
          ++all;
        }
        const Settlement settlement{ref(each), each.fence,
                                    fails ? Disposition(RetryIn{}) : Disposition(Ack{})};
        const auto answer = steps.same().queue->write({.settle = std::span(&settlement, 1)}).settle;
        ASSERT_TRUE(answer) << answer.error().to_string();
        ASSERT_EQ(answer->front(), Settled::ok);
      }
    }
  });
  EXPECT_EQ(all, kLanes * kEach);
}

constexpr InboxCase kLanesCases[] = {
    {"OnlyTheHeadOfALaneCanBeLeased", only_the_head_of_a_lane_can_be_leased},
    {"ALaneWaitsWhileItsHeadWaitsForARetry", a_lane_waits_while_its_head_waits_for_a_retry},
    {"LanesDoNotWaitForEachOther", lanes_do_not_wait_for_each_other},
    {"ALaneBelongsToOneDestination", a_lane_belongs_to_one_destination},
    {"WithoutAnOrderKeyThereIsNoLane", without_an_order_key_there_is_no_lane},
    {"ARequestKeepsItsOrderInTheLane", a_request_keeps_its_order_in_the_lane},
    {"ALaneFollowsTheOrderOfCommitsNotOfNumbers",
     a_lane_follows_the_order_of_commits_not_of_numbers},
    {"AnEndedHeadReleasesTheNextDelivery", an_ended_head_releases_the_next_delivery},
    {"ADeadHeadBlocksItsLaneWhenConfigured", a_dead_head_blocks_its_lane_when_configured},
    {"AnAbandonedHeadBlocksOrSkipsAsItsLeaseRequires",
     an_abandoned_head_blocks_or_skips_as_its_lease_requires},
    {"ADeadDeliveryWithoutALaneBlocksNothing", a_dead_delivery_without_a_lane_blocks_nothing},
    {"ACancelInTheMiddleOfALaneLeavesTheRestInOrder",
     a_cancel_in_the_middle_of_a_lane_leaves_the_rest_in_order},
    {"ACancelledHeadReleasesTheNextDelivery", a_cancelled_head_releases_the_next_delivery},
    {"ALaneContinuesWhenTheHolderOfItsHeadDied", a_lane_continues_when_the_holder_of_its_head_died},
    {"AStaleSettleDoesNotAdvanceALaneAgain", a_stale_settle_does_not_advance_a_lane_again},
    {"AnEmptiedLaneCanBeUsedAgain", an_emptied_lane_can_be_used_again},
    {"BlockedLanesDoNotHideReadyDeliveries", blocked_lanes_do_not_hide_ready_deliveries},
    {"AWouldBeDuplicateIsOutsideItsLane", a_would_be_duplicate_is_outside_its_lane},
    {"EightWorkersKeepEveryLaneInOrder", eight_workers_keep_every_lane_in_order, false},
};

}  // namespace

std::span<const InboxCase> lane_cases() {
  return kLanesCases;
}

}  // namespace hapax::test
