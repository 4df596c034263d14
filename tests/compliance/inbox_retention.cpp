// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Retention: how long claims, bytes and dead letters are kept.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

using Kind = Admission::Kind;

Incoming brief(const std::string& id = "a") {
  return {.id = id, .remember = hours(1)};
}

void remember_counts_from_the_first_arrival(InboxSteps& steps) {
  const EventNo first = steps.fresh(brief());
  steps.deliver();
  steps.advance(hours(1) - milliseconds(1));
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, first}))
      << "a duplicate extends nothing";
  steps.advance(milliseconds(1));
  const EventNo second = steps.fresh(brief());
  EXPECT_NE(second, first);
  EXPECT_EQ(steps.presence(first), Presence::here) << "its bytes have their own retention";
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, second}));
}

void the_remembered_time_is_fixed_at_the_claim(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .remember = hours(2)});
  steps.deliver();
  steps.advance(hours(1));
  EXPECT_EQ(steps.admit({.id = "a", .remember = seconds(1)}), (Admission{Kind::duplicate, event}));
  steps.advance(hours(1));
  steps.fresh({.id = "a", .remember = seconds(1)});
}

void an_expired_claim_stays_while_a_delivery_is_pending(InboxSteps& steps) {
  const EventNo event = steps.fresh(brief());
  steps.advance(hours(2));
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, event}));
  EXPECT_EQ(steps.next()
                .catalog->find(std::vector<WantedIdentity>{{steps.source("src"), "", "a"}})
                ->at(0),
            event);
  steps.deliver();
  steps.fresh(brief());
}

void an_expired_claim_stays_while_a_delivery_is_leased(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .remember = hours(1), .to = {"one", "two"}});
  steps.deliver("one");
  const Leased lease = steps.lease_one("two", {.lease = hours(3)});
  steps.advance(hours(2));
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, event}));
  steps.ack(lease);
  steps.fresh(brief());
}

void an_expired_claim_stays_while_a_dead_head_blocks_its_lane(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .order_key = "k", .remember = hours(1)});
  steps.kill(steps.lease_one(), OnDead::block);
  steps.advance(hours(2));
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, event}));
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 0U);
  EXPECT_EQ(steps.cancel(event), Cancelled::done);
  steps.fresh(brief());
}

void an_expired_claim_is_removed_when_only_dead_or_listening_deliveries_remain(InboxSteps& steps) {
  steps.fresh({.id = "a", .remember = hours(1), .listen = {"dev"}});
  steps.kill(steps.lease_one());
  steps.advance(hours(1));
  steps.fresh(brief());
}

void keep_counts_from_the_last_terminal_state(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"one", "two"}});
  steps.deliver("one");
  steps.advance(days);
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 0U);
  steps.deliver("two");
  steps.advance(hours(1) - milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 0U);
  EXPECT_EQ(steps.presence(event), Presence::here);
  steps.advance(milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 1U);
  EXPECT_EQ(steps.presence(event), Presence::gone);
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 0U);
}

void an_archived_event_is_kept_from_its_arrival(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {}});
  steps.advance(hours(1) - milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(9)), 0U);
  steps.advance(milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(9)), 1U);
  EXPECT_EQ(steps.presence(event), Presence::gone);
}

void keep_dead_replaces_keep_while_a_delivery_is_dead(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"one", "two"}});
  steps.deliver("one");
  steps.kill(steps.lease_one("two"));
  steps.advance(hours(5));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 0U);
  EXPECT_EQ(steps.replay({.event = event}).status, Replayed::Status::done);
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 0U) << "pending again";
  steps.deliver("two");
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 0U) << "counted from the new terminal state";
  steps.advance(hours(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 1U);
}

void a_dead_delivery_is_removed_after_keep_dead(InboxSteps& steps) {
  steps.fresh({});
  steps.kill(steps.lease_one());
  steps.advance(hours(10) - milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 0U);
  steps.advance(milliseconds(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 1U);
}

void cancelled_and_superseded_are_kept_like_completed(InboxSteps& steps) {
  const EventNo cancelled = steps.fresh({.id = "cancelled"});
  EXPECT_EQ(steps.cancel(cancelled), Cancelled::done);
  steps.fresh({.id = "5", .order_key = "k", .version = 5});
  steps.deliver();
  const EventNo superseded = steps.fresh({.id = "4", .order_key = "k", .version = 4});
  EXPECT_EQ(steps.lease("dst").passed, 1U);
  steps.advance(hours(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 3U);
  EXPECT_EQ(steps.presence(cancelled), Presence::gone);
  EXPECT_EQ(steps.presence(superseded), Presence::gone);
}

void nothing_is_removed_while_a_delivery_is_open(InboxSteps& steps) {
  steps.fresh({.id = "leased", .order_key = "k"});
  steps.fresh({.id = "waiting", .order_key = "k"});
  steps.fresh({.id = "pending"});
  EXPECT_EQ(steps.lease_one("dst", {.lease = 30 * days}).event.id, "leased");
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{20 * days}), Settled::ok);
  steps.advance(10 * days);
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 0U);
  EXPECT_EQ(steps.list({}).size(), 3U);
}

void a_listen_delivery_does_not_retain_its_event(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"dst"}, .listen = {"dev"}});
  steps.deliver("dst");
  const Leased lease = steps.lease_one("dev", {.lease = 10 * days});
  steps.advance(hours(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 1U);
  EXPECT_EQ(steps.presence(event), Presence::gone);
  EXPECT_EQ(steps.settle(lease, Ack{}), Settled::unknown);
  steps.advance(10 * days);
  EXPECT_TRUE(steps.nothing_due("dev"));
}

void the_end_of_a_listen_delivery_does_not_count(InboxSteps& steps) {
  steps.fresh({.to = {"dst"}, .listen = {"dev"}});
  steps.deliver("dst");
  steps.advance(minutes(59));
  steps.kill(steps.lease_one("dev"));
  steps.advance(minutes(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(10)), 1U);
}

void a_claim_outlives_the_bytes_of_its_event(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .body = "one", .remember = hours(10)});
  steps.deliver();
  steps.advance(hours(1));
  EXPECT_EQ(steps.sweep(hours(1), hours(1)), 1U);
  EXPECT_EQ(steps.admit({.id = "a", .body = "one"}), (Admission{Kind::duplicate, event}));
  EXPECT_EQ(steps.admit({.id = "a", .body = "two"}), (Admission{Kind::duplicate, event}))
      << "the body to compare with is gone";
  steps.advance(hours(9));
  steps.sweep(hours(1), hours(1));
  steps.fresh({.id = "a"});
}

// awa #388: a conflict with another row stopped the whole sweep.
void a_taken_over_claim_survives_the_old_event(InboxSteps& steps) {
  const EventNo old = steps.fresh(brief());
  steps.deliver();
  steps.advance(hours(1));
  const EventNo next = steps.fresh(brief());
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 1U);
  EXPECT_EQ(steps.presence(old), Presence::gone);
  EXPECT_EQ(steps.admit(brief()), (Admission{Kind::duplicate, next}));
  steps.deliver();
  steps.advance(hours(1));
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 1U);
  steps.fresh(brief());
}

void attempts_outlive_the_last_settle_by_a_day(InboxSteps& steps) {
  steps.fresh({});
  const Leased first = steps.lease_one();
  EXPECT_EQ(steps.settle(first, RetryIn{hours(12)}), Settled::ok);
  steps.advance(hours(12));
  const Leased second = steps.lease_one();
  steps.ack(second);
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 1U);
  steps.advance(hours(24) - milliseconds(1));
  steps.sweep(seconds(0), seconds(0));
  EXPECT_EQ(steps.settle(second, Ack{}), Settled::ok) << "a repeat still gets its answer";
  EXPECT_EQ(steps.settle(first, RetryIn{}), Settled::ok);
  EXPECT_EQ(steps.settle(first, Ack{}), Settled::stale);
}

void removed_and_unknown_events_are_distinguished(InboxSteps& steps) {
  const EventNo never = steps.new_number();
  const EventNo first = steps.fresh({.id = "a"});
  const EventNo second = steps.fresh({.id = "b"});
  const EventNo third = steps.fresh({.id = "c"});
  steps.ack(steps.lease_one());
  steps.lease_one();
  steps.ack(steps.lease_one());
  EXPECT_EQ(steps.presence(never), Presence::absent);
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 2U);
  EXPECT_EQ(steps.presence(first), Presence::gone);
  EXPECT_EQ(steps.presence(second), Presence::here)
      << "a retained event stays, also below removed ones";
  EXPECT_EQ(steps.presence(third), Presence::gone);
  EXPECT_EQ(steps.presence(never), Presence::gone)
      << "below removed numbers absence cannot be distinguished";
  EXPECT_EQ(steps.presence(steps.new_number()), Presence::absent);
}

// River #1318, for retention: a step full of retained events hid the rest.
void retained_events_do_not_hide_removable_ones(InboxSteps& steps) {
  steps.fresh_many(10, {.to = {"stays"}});
  for (const char* id : {"x", "y", "z"}) steps.fresh({.id = id, .to = {}});
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0), 2), 3U);
  EXPECT_EQ(steps.list({}).size(), 10U);
}

void events_of_unlisted_sources_stay(InboxSteps& steps) {
  const EventNo event = steps.fresh({.source = "x", .to = {}});
  const SweepStep step{.periods = {}, .limit = 100};
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(steps.next().queue->sweep(step));
  EXPECT_EQ(steps.presence(event), Presence::here);
}

void sources_have_their_own_periods(InboxSteps& steps) {
  const EventNo brief_one = steps.fresh({.source = "x", .to = {}});
  const EventNo long_one = steps.fresh({.source = "y", .to = {}});
  const Periods periods[]{{steps.source("x"), hours(1), hours(1)},
                          {steps.source("y"), hours(2), hours(2)}};
  steps.advance(hours(1));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(steps.next().queue->sweep({periods, 100}));
  EXPECT_EQ(steps.presence(brief_one), Presence::gone);
  EXPECT_EQ(steps.presence(long_one), Presence::here);
}

constexpr InboxCase kRetentionCases[] = {
    {"RememberCountsFromTheFirstArrival", remember_counts_from_the_first_arrival},
    {"TheRememberedTimeIsFixedAtTheClaim", the_remembered_time_is_fixed_at_the_claim},
    {"AnExpiredClaimStaysWhileADeliveryIsPending",
     an_expired_claim_stays_while_a_delivery_is_pending},
    {"AnExpiredClaimStaysWhileADeliveryIsLeased",
     an_expired_claim_stays_while_a_delivery_is_leased},
    {"AnExpiredClaimStaysWhileADeadHeadBlocksItsLane",
     an_expired_claim_stays_while_a_dead_head_blocks_its_lane},
    {"AnExpiredClaimIsRemovedWhenOnlyDeadOrListeningDeliveriesRemain",
     an_expired_claim_is_removed_when_only_dead_or_listening_deliveries_remain},
    {"KeepCountsFromTheLastTerminalState", keep_counts_from_the_last_terminal_state},
    {"AnArchivedEventIsKeptFromItsArrival", an_archived_event_is_kept_from_its_arrival},
    {"KeepDeadReplacesKeepWhileADeliveryIsDead", keep_dead_replaces_keep_while_a_delivery_is_dead},
    {"ADeadDeliveryIsRemovedAfterKeepDead", a_dead_delivery_is_removed_after_keep_dead},
    {"CancelledAndSupersededAreKeptLikeCompleted",
     cancelled_and_superseded_are_kept_like_completed},
    {"NothingIsRemovedWhileADeliveryIsOpen", nothing_is_removed_while_a_delivery_is_open},
    {"AListenDeliveryDoesNotRetainItsEvent", a_listen_delivery_does_not_retain_its_event},
    {"TheEndOfAListenDeliveryDoesNotCount", the_end_of_a_listen_delivery_does_not_count},
    {"AClaimOutlivesTheBytesOfItsEvent", a_claim_outlives_the_bytes_of_its_event},
    {"ATakenOverClaimSurvivesTheOldEvent", a_taken_over_claim_survives_the_old_event},
    {"AttemptsOutliveTheLastSettleByADay", attempts_outlive_the_last_settle_by_a_day},
    {"RemovedAndUnknownEventsAreDistinguished", removed_and_unknown_events_are_distinguished},
    {"RetainedEventsDoNotHideRemovableOnes", retained_events_do_not_hide_removable_ones},
    {"EventsOfUnlistedSourcesStay", events_of_unlisted_sources_stay},
    {"SourcesHaveTheirOwnPeriods", sources_have_their_own_periods},
};

}  // namespace

std::span<const InboxCase> retention_cases() {
  return kRetentionCases;
}

}  // namespace hapax::test
