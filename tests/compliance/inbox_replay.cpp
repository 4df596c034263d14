// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Replay and cancel.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

using Status = Replayed::Status;

const HowToReplay kAsNew{.as = ReplayAs::as_new};

Incoming in_lane_k(const std::string& id) {
  return {.id = id, .order_key = "k"};
}

void a_replay_as_same_is_the_same_delivery_with_a_fresh_budget(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{}), Settled::ok);
  const Leased last = steps.lease_one();
  steps.kill(last);
  steps.advance(seconds(1));
  const Replayed replayed = steps.replay({.event = event});
  EXPECT_EQ(replayed.status, Status::done);
  EXPECT_EQ(replayed.deliveries, std::vector{DeliveryNo(1)});
  const DeliveryRow row = steps.row(event);
  EXPECT_EQ(row.state, DeliveryState::pending);
  EXPECT_EQ(row.reason, EndReason::none);
  EXPECT_FALSE(row.ended);
  EXPECT_EQ(row.attempts, 0U);
  const Leased again = steps.lease_one();
  EXPECT_EQ(again.delivery, DeliveryNo(1)) << "the same key";
  EXPECT_EQ(again.attempt, 1U);
  EXPECT_GT(again.fence, last.fence) << "fences keep growing";
  EXPECT_FALSE(again.replay_of);
  EXPECT_EQ(steps.settle(last, Ack{}), Settled::stale);
  steps.ack(again);
  EXPECT_EQ(steps.detail(event).attempts.size(), 3U) << "the attempt log continues too";
}

void dead_dropped_and_cancelled_can_be_replayed_as_same(InboxSteps& steps) {
  const EventNo dead = steps.fresh({.id = "dead"});
  steps.kill(steps.lease_one());
  const EventNo dropped = steps.fresh({.id = "dropped"});
  EXPECT_EQ(steps.settle(steps.lease_one(), Drop{}), Settled::ok);
  const EventNo cancelled = steps.fresh({.id = "cancelled"});
  EXPECT_EQ(steps.cancel(cancelled), Cancelled::done);
  for (const EventNo each : {dead, dropped, cancelled}) {
    EXPECT_EQ(steps.replay({.event = each}).status, Status::done);
  }
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "dead dropped cancelled");
}

void open_deliveries_cannot_be_replayed(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.replay({.event = event}).status, Status::not_replayable);
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).status, Status::not_replayable);
  const Leased lease = steps.lease_one();
  EXPECT_EQ(steps.replay({.event = event}).status, Status::not_replayable);
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).status, Status::not_replayable);
  steps.ack(lease);
  EXPECT_EQ(steps.replay({.event = event}).status, Status::not_replayable)
      << "completed needs as_new";
}

void a_replay_as_new_is_a_new_delivery(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  steps.deliver();
  const Replayed replayed = steps.replay({.event = event, .how = kAsNew});
  EXPECT_EQ(replayed.status, Status::done);
  EXPECT_EQ(replayed.deliveries, std::vector{DeliveryNo(2)});
  EXPECT_EQ(steps.state(event, 1), DeliveryState::completed);
  EXPECT_EQ(steps.row(event, 2).replay_of, DeliveryNo(1));
  EXPECT_EQ(steps.detail(event).row.status, DeliveryState::pending);
  const Leased lease = steps.lease_one();
  EXPECT_EQ(lease.delivery, DeliveryNo(2)) << "a different key";
  EXPECT_EQ(lease.replay_of, DeliveryNo(1));
  steps.ack(lease);
  EXPECT_EQ(steps.row(event, 2).replay_of, DeliveryNo(1)) << "still recorded";
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).deliveries, std::vector{DeliveryNo(3)});
  EXPECT_EQ(steps.row(event, 3).replay_of, DeliveryNo(2)) << "of the latest delivery";
}

void a_replay_as_new_is_outside_lanes(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a", .order_key = "k", .version = 5});
  steps.deliver();
  steps.fresh({.id = "b", .order_key = "k", .version = 6});
  steps.deliver();
  steps.fresh({.id = "c", .order_key = "k", .version = 7});
  EXPECT_EQ(steps.replay({.event = first, .how = kAsNew}).status, Status::done);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a c") << "not delayed by its lane or version";
}

void a_replay_as_new_leaves_the_dead_delivery_dead(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).status, Status::done);
  steps.deliver();
  EXPECT_EQ(steps.state(event, 1), DeliveryState::dead);
  EXPECT_EQ(steps.detail(event).row.status, DeliveryState::dead);
  EXPECT_EQ(steps.replay({.event = event}).deliveries, std::vector{DeliveryNo(1)});
}

void only_requested_deliveries_are_replayed(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"one", "two", "three"}});
  steps.kill(steps.lease_one("one"));
  steps.kill(steps.lease_one("two"));
  steps.deliver("three");
  EXPECT_EQ(
      steps.replay({.event = event, .how = {.destination = steps.destination("two")}}).deliveries,
      std::vector{DeliveryNo(2)});
  EXPECT_EQ(steps.replay({.event = event, .delivery = DeliveryNo(3)}).status,
            Status::not_replayable);
  EXPECT_EQ(steps.replay({.event = event, .delivery = DeliveryNo(9)}).status, Status::absent);
  EXPECT_EQ(steps.replay({.event = event}).deliveries, std::vector{DeliveryNo(1)});
  steps.deliver("one");
  steps.deliver("two");
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).deliveries,
            (std::vector{DeliveryNo(4), DeliveryNo(5), DeliveryNo(6)}))
      << "one for each destination";
}

void an_archived_event_cannot_be_replayed(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {}});
  EXPECT_EQ(steps.replay({.event = event}).status, Status::not_replayable);
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).status, Status::not_replayable);
}

void a_replay_repeated_with_its_number_happens_once(InboxSteps& steps) {
  const EventNo dead = steps.fresh({.id = "dead"});
  steps.kill(steps.lease_one());
  const EventNo done = steps.fresh({.id = "done"});
  steps.deliver();
  const Replay same{.event = dead, .how = {.no = ReplayNo(7)}};
  const Replay as_new{.event = done, .how = {.as = ReplayAs::as_new, .no = ReplayNo(7)}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(steps.replay(same).deliveries, std::vector{DeliveryNo(1)});
    EXPECT_EQ(steps.replay(as_new).deliveries, std::vector{DeliveryNo(2)});
    EXPECT_EQ(steps.detail(done).deliveries.size(), 2U);
  }
  EXPECT_EQ(steps.leased("dst", {.max = 10}).size(), 2U);
  EXPECT_EQ(steps.replay(same).status, Status::done) << "leased meanwhile";
  steps.advance(seconds(30));
  for (const Leased& each : steps.leased("dst", {.max = 10})) steps.ack(each);
  EXPECT_EQ(steps.replay(as_new).deliveries, std::vector{DeliveryNo(2)}) << "completed meanwhile";
  EXPECT_TRUE(steps.nothing_due());
}

void an_event_has_a_limited_number_of_deliveries(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.cancel(event), Cancelled::done);
  for (std::int64_t number = 2; number <= kMaxDeliveryNo; ++number) {
    ASSERT_EQ(steps.replay({.event = event, .how = kAsNew}).deliveries,
              std::vector{DeliveryNo(number)});
    ASSERT_EQ(steps.cancel(event, number), Cancelled::done);
  }
  EXPECT_EQ(steps.replay({.event = event, .how = kAsNew}).status, Status::too_many);
  EXPECT_EQ(steps.replay({.event = event, .delivery = DeliveryNo(kMaxDeliveryNo)}).status,
            Status::done);
}

void a_replay_of_the_dead_head_unblocks_its_lane(InboxSteps& steps) {
  const EventNo head = steps.fresh(in_lane_k("a"));
  steps.fresh(in_lane_k("b"));
  steps.kill(steps.lease_one(), OnDead::block);
  EXPECT_EQ(steps.replay({.event = head}).status, Status::done);
  EXPECT_FALSE(steps.row(head).blocking);
  const Leased again = steps.lease_one();
  EXPECT_EQ(again.event.id, "a");
  EXPECT_TRUE(steps.nothing_due());
  steps.ack(again);
  EXPECT_EQ(steps.lease_one().event.id, "b");
}

void a_replayed_delivery_takes_its_old_place_in_the_lane(InboxSteps& steps) {
  const EventNo first = steps.fresh(in_lane_k("a"));
  steps.fresh(in_lane_k("b"));
  const EventNo third = steps.fresh(in_lane_k("c"));
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.replay({.event = first}).status, Status::done);
  EXPECT_TRUE(steps.row(third).waiting);
  for (const char* expected : {"a", "b", "c"}) {
    const std::vector<Leased> head = steps.leased("dst", {.max = 10});
    ASSERT_EQ(ids(head), expected);
    steps.ack(head.front());
  }
}

void a_replay_in_the_middle_waits_for_its_turn(InboxSteps& steps) {
  steps.fresh(in_lane_k("a"));
  const EventNo second = steps.fresh(in_lane_k("b"));
  steps.fresh(in_lane_k("c"));
  EXPECT_EQ(steps.cancel(second), Cancelled::done);
  EXPECT_EQ(steps.replay({.event = second}).status, Status::done);
  EXPECT_TRUE(steps.row(second).waiting);
  for (const char* expected : {"a", "b", "c"}) {
    const std::vector<Leased> head = steps.leased("dst", {.max = 10});
    ASSERT_EQ(ids(head), expected);
    steps.ack(head.front());
  }
}

void a_leased_head_is_not_displaced(InboxSteps& steps) {
  const EventNo first = steps.fresh(in_lane_k("a"));
  steps.fresh(in_lane_k("b"));
  steps.kill(steps.lease_one());
  const Leased second = steps.lease_one();
  EXPECT_EQ(second.event.id, "b");
  EXPECT_EQ(steps.replay({.event = first}).status, Status::done);
  EXPECT_TRUE(steps.nothing_due()) << "two deliveries of a lane must not run concurrently";
  EXPECT_EQ(steps.settle(second, RetryIn{}), Settled::ok);
  const Leased now = steps.lease_one();
  EXPECT_EQ(now.event.id, "a") << "the settled head is displaced by the replay";
  EXPECT_TRUE(steps.nothing_due());
  steps.ack(now);
  EXPECT_EQ(steps.lease_one().attempt, 2U);
}

void a_head_with_an_expired_lease_is_displaced_and_its_holder_is_stale(InboxSteps& steps) {
  const EventNo first = steps.fresh(in_lane_k("a"));
  const EventNo second = steps.fresh(in_lane_k("b"));
  steps.kill(steps.lease_one());
  const Leased lapsed = steps.lease_one();
  steps.advance(seconds(30));
  EXPECT_EQ(steps.replay({.event = first}).status, Status::done);
  EXPECT_TRUE(steps.row(second).waiting);
  EXPECT_EQ(steps.settle(lapsed, Ack{}), Settled::stale);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a");
}

void a_displaced_head_keeps_the_time_of_its_retry(InboxSteps& steps) {
  const EventNo first = steps.fresh(in_lane_k("a"));
  steps.fresh(in_lane_k("b"));
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{hours(1)}), Settled::ok);
  EXPECT_EQ(steps.replay({.event = first}).status, Status::done);
  steps.deliver();
  EXPECT_TRUE(steps.nothing_due());
  steps.advance(hours(1));
  EXPECT_EQ(steps.lease_one().event.id, "b");
}

void a_replay_waits_behind_a_blocking_head(InboxSteps& steps) {
  const EventNo first = steps.fresh(in_lane_k("a"));
  const EventNo second = steps.fresh(in_lane_k("b"));
  steps.kill(steps.lease_one());
  steps.kill(steps.lease_one(), OnDead::block);
  EXPECT_EQ(steps.replay({.event = first}).status, Status::done);
  EXPECT_TRUE(steps.nothing_due()) << "the lane stays blocked";
  EXPECT_EQ(steps.replay({.event = second}).status, Status::done);
  for (const char* expected : {"a", "b"}) {
    const std::vector<Leased> head = steps.leased("dst", {.max = 10});
    ASSERT_EQ(ids(head), expected) << "in their original order";
    steps.ack(head.front());
  }
}

void a_replay_past_the_horizon_must_accept_a_duplicate(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const LeaseHow how{.horizon = hours(1)};
  EXPECT_EQ(steps.settle(steps.lease_one("dst", how), RetryIn{}), Settled::ok);
  steps.advance(hours(1));
  EXPECT_EQ(steps.lease("dst", how).passed, 1U);
  EXPECT_EQ(steps.replay({.event = event}).status, Status::past_horizon);
  EXPECT_EQ(steps.state(event), DeliveryState::dead);
  EXPECT_EQ(steps.replay({.event = event, .how = {.accept_duplicate = true}}).status, Status::done);
  EXPECT_FALSE(steps.row(event).first_sent) << "the horizon restarts";
  EXPECT_EQ(steps.settle(steps.lease_one("dst", how), RetryIn{}), Settled::ok);
  steps.advance(minutes(59));
  steps.ack(steps.lease_one("dst", how));
}

// The horizon is part of a lease request, so a replay cannot compare it.
void a_replay_does_not_restart_the_horizon(InboxSteps& steps) {
  const EventNo dead = steps.fresh({.id = "a"});
  const EventNo cancelled = steps.fresh({.id = "b"});
  const LeaseHow how{.max = 2, .horizon = hours(1)};
  for (const Leased& each : steps.leased("dst", how)) steps.kill(each);
  EXPECT_EQ(steps.replay({.event = cancelled}).status, Status::done);
  EXPECT_EQ(steps.cancel(cancelled), Cancelled::done);
  steps.advance(hours(1));
  for (const EventNo event : {dead, cancelled}) {
    EXPECT_EQ(steps.replay({.event = event}).status, Status::done);
    EXPECT_TRUE(steps.row(event).first_sent);
    const Lease none = steps.lease("dst", how);
    EXPECT_TRUE(none.deliveries.empty());
    EXPECT_EQ(none.passed, 1U);
    EXPECT_EQ(steps.row(event).reason, EndReason::horizon);
    EXPECT_EQ(steps.detail(event).attempts.size(), 1U) << "no attempt after the replay";
    EXPECT_EQ(steps.replay({.event = event}).status, Status::past_horizon);
  }
}

void an_accepted_duplicate_is_delivered_past_the_horizon(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const LeaseHow how{.horizon = hours(1)};
  steps.kill(steps.lease_one("dst", how));
  steps.advance(hours(2));
  EXPECT_EQ(steps.replay({.event = event, .how = {.accept_duplicate = true}}).status, Status::done);
  steps.ack(steps.lease_one("dst", how));
}

void removed_events_cannot_be_replayed_or_cancelled(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  steps.kill(steps.lease_one());
  const EventNo later = steps.new_number();
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 1U);
  EXPECT_EQ(steps.replay({.event = event}).status, Status::gone);
  EXPECT_EQ(steps.cancel(event), Cancelled::gone);
  EXPECT_EQ(steps.replay({.event = later}).status, Status::absent);
  EXPECT_EQ(steps.cancel(later), Cancelled::absent);
}

void cancel_ends_open_deliveries(InboxSteps& steps) {
  const EventNo pending = steps.fresh({.id = "a"});
  EXPECT_EQ(steps.cancel(pending), Cancelled::done);
  EXPECT_EQ(steps.row(pending).reason, EndReason::cancelled);
  EXPECT_EQ(steps.cancel(pending), Cancelled::done) << "again";
  EXPECT_EQ(steps.cancel(pending, 2), Cancelled::absent);
  const EventNo dead = steps.fresh({.id = "b"});
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.cancel(dead), Cancelled::done);
  EXPECT_EQ(steps.state(dead), DeliveryState::cancelled);
  const EventNo done = steps.fresh({.id = "c"});
  steps.deliver();
  EXPECT_EQ(steps.cancel(done), Cancelled::not_possible);
  EXPECT_EQ(steps.state(done), DeliveryState::completed);
  EXPECT_TRUE(steps.nothing_due());
}

void a_bulk_replay_resumes_where_it_stopped(InboxSteps& steps) {
  constexpr int kEvents = 25;
  const std::vector<EventNo> events = steps.fresh_many(kEvents, {});
  for (int i = 0; i < kEvents; ++i) steps.kill(steps.lease_one());
  EXPECT_EQ(steps.replay({.event = events[3]}).status, Status::done);
  ReplayStep step{.filter = {.status = DeliveryState::dead}, .limit = 10};
  step.dry = true;
  std::size_t matched = 0;
  std::size_t going = 0;
  for (const bool dry : {true, false}) {
    step.dry = dry;
    step.after = EventNo();
    for (bool done = false; !done;) {
      const auto part = steps.next().queue->replay_step(step);
      ASSERT_TRUE(part) << part.error().to_string();
      EXPECT_LE(part->events, 10U);
      (dry ? matched : going) += dry ? part->events : part->deliveries;
      step.after = part->after;
      done = part->done;
    }
  }
  EXPECT_EQ(matched, 24U) << "a dry run changes nothing";
  EXPECT_EQ(going, 24U);
  EXPECT_EQ(steps.lease_all("dst", {.max = 100}).size(), 25U);
}

void a_repeated_step_of_a_replay_as_new_creates_nothing_twice(InboxSteps& steps) {
  const std::vector<EventNo> events = steps.fresh_many(5, {});
  for (int i = 0; i < 5; ++i) steps.deliver();
  const ReplayStep step{
      .how = {.as = ReplayAs::as_new, .no = ReplayNo(3)}, .until = events[3], .limit = 100};
  for (int i = 0; i < 2; ++i) {
    const auto part = steps.next().queue->replay_step(step);
    ASSERT_TRUE(part) << part.error().to_string();
    EXPECT_EQ(part->deliveries, 4U);
  }
  EXPECT_EQ(ids(steps.lease_all("dst", {.max = 100})), "0 1 2 3");
}

constexpr InboxCase kReplayCases[] = {
    {"AReplayAsSameIsTheSameDeliveryWithAFreshBudget",
     a_replay_as_same_is_the_same_delivery_with_a_fresh_budget},
    {"DeadDroppedAndCancelledCanBeReplayedAsSame",
     dead_dropped_and_cancelled_can_be_replayed_as_same},
    {"OpenDeliveriesCannotBeReplayed", open_deliveries_cannot_be_replayed},
    {"AReplayAsNewIsANewDelivery", a_replay_as_new_is_a_new_delivery},
    {"AReplayAsNewIsOutsideLanes", a_replay_as_new_is_outside_lanes},
    {"AReplayAsNewLeavesTheDeadDeliveryDead", a_replay_as_new_leaves_the_dead_delivery_dead},
    {"OnlyRequestedDeliveriesAreReplayed", only_requested_deliveries_are_replayed},
    {"AnArchivedEventCannotBeReplayed", an_archived_event_cannot_be_replayed},
    {"AReplayRepeatedWithItsNumberHappensOnce", a_replay_repeated_with_its_number_happens_once},
    {"AnEventHasALimitedNumberOfDeliveries", an_event_has_a_limited_number_of_deliveries, false},
    {"AReplayOfTheDeadHeadUnblocksItsLane", a_replay_of_the_dead_head_unblocks_its_lane},
    {"AReplayedDeliveryTakesItsOldPlaceInTheLane",
     a_replayed_delivery_takes_its_old_place_in_the_lane},
    {"AReplayInTheMiddleWaitsForItsTurn", a_replay_in_the_middle_waits_for_its_turn},
    {"ALeasedHeadIsNotDisplaced", a_leased_head_is_not_displaced},
    {"AHeadWithAnExpiredLeaseIsDisplacedAndItsHolderIsStale",
     a_head_with_an_expired_lease_is_displaced_and_its_holder_is_stale},
    {"ADisplacedHeadKeepsTheTimeOfItsRetry", a_displaced_head_keeps_the_time_of_its_retry},
    {"AReplayWaitsBehindABlockingHead", a_replay_waits_behind_a_blocking_head},
    {"AReplayPastTheHorizonMustAcceptADuplicate",
     a_replay_past_the_horizon_must_accept_a_duplicate},
    {"AReplayDoesNotRestartTheHorizon", a_replay_does_not_restart_the_horizon},
    {"AnAcceptedDuplicateIsDeliveredPastTheHorizon",
     an_accepted_duplicate_is_delivered_past_the_horizon},
    {"RemovedEventsCannotBeReplayedOrCancelled", removed_events_cannot_be_replayed_or_cancelled},
    {"CancelEndsOpenDeliveries", cancel_ends_open_deliveries},
    {"ABulkReplayResumesWhereItStopped", a_bulk_replay_resumes_where_it_stopped},
    {"ARepeatedStepOfAReplayAsNewCreatesNothingTwice",
     a_repeated_step_of_a_replay_as_new_creates_nothing_twice},
};

}  // namespace

std::span<const InboxCase> replay_cases() {
  return kReplayCases;
}

}  // namespace hapax::test
