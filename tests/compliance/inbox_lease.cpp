// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Leases: the time-limited right to attempt a delivery.
#include "compliance/inbox_suite.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace hapax::test {

namespace {

void a_lease_carries_the_event_and_a_fence(InboxSteps& steps) {
  const EventNo event = steps.fresh(
      {.id = "a", .tenant = "t", .body = "bytes", .type = "order.paid", .headers = "headers"});
  const Leased lease = steps.lease_one();
  EXPECT_EQ(lease.event.no, event);
  EXPECT_EQ(lease.event.source, steps.source("src"));
  EXPECT_EQ(lease.event.tenant, "t");
  EXPECT_EQ(lease.event.id, "a");
  EXPECT_EQ(lease.event.type, "order.paid");
  EXPECT_EQ(lease.event.headers, "headers");
  EXPECT_EQ(lease.event.body, "bytes");
  EXPECT_EQ(lease.delivery, DeliveryNo(1));
  EXPECT_EQ(lease.attempt, 1U);
  EXPECT_GT(lease.fence.value(), 0);
  EXPECT_EQ(lease.until, lease.event.received + seconds(30));
  EXPECT_FALSE(lease.replay_of);
}

void a_leased_delivery_shows_its_holder_and_expiry(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_FALSE(steps.row(event).holder);
  const Leased lease = steps.lease_one("dst", {.holder = kPull});
  const DeliveryRow row = steps.row(event);
  EXPECT_EQ(row.state, DeliveryState::leased);
  EXPECT_EQ(row.holder, kPull);
  EXPECT_EQ(row.due, lease.until);
  EXPECT_EQ(row.first_sent, lease.event.received);
}

void a_leased_delivery_is_not_leased_again_until_its_lease_expires(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased first = steps.lease_one();
  EXPECT_TRUE(steps.nothing_due());
  steps.advance(seconds(30) - milliseconds(1));
  EXPECT_EQ(steps.state(event), DeliveryState::leased);
  EXPECT_TRUE(steps.nothing_due());
  steps.advance(milliseconds(1));
  EXPECT_EQ(steps.state(event), DeliveryState::pending);
  EXPECT_GT(steps.lease_one().fence, first.fence);
}

void deliveries_are_leased_in_the_order_they_are_due(InboxSteps& steps) {
  steps.fresh({.id = "a"});
  steps.advance(milliseconds(1));
  steps.fresh({.id = "b"});
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{seconds(5)}), Settled::ok);
  steps.fresh({.id = "c"});
  steps.advance(seconds(5));
  steps.fresh({.id = "d"});
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "b c a d");
}

void a_lease_returns_no_more_than_requested(InboxSteps& steps) {
  steps.fresh_many(5, {});
  EXPECT_EQ(ids(steps.leased("dst", {.max = 2})), "0 1");
  EXPECT_EQ(ids(steps.leased("dst", {.max = 2})), "2 3");
  EXPECT_EQ(ids(steps.leased("dst", {.max = 2})), "4");
  EXPECT_TRUE(steps.nothing_due());
}

void destinations_do_not_get_each_others_deliveries(InboxSteps& steps) {
  steps.fresh({.id = "a", .to = {"one"}});
  EXPECT_TRUE(steps.nothing_due("two"));
  EXPECT_TRUE(steps.nothing_due("nobody sends to this one"));
  EXPECT_EQ(ids(steps.leased("one")), "a");
}

void a_paused_destination_leases_nothing_until_it_is_resumed(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .to = {"one", "two"}});
  const Leased before = steps.lease_one("one");
  ASSERT_TRUE(steps.next().catalog->pause(steps.destination("one"), true));
  EXPECT_EQ(*steps.next().catalog->paused(), std::vector{steps.destination("one")});
  steps.fresh({.id = "b", .to = {"one", "two"}});
  EXPECT_TRUE(steps.nothing_due("one"));
  EXPECT_EQ(ids(steps.leased("two", {.max = 10})), "a b");
  steps.ack(before);
  EXPECT_EQ(steps.state(event, 1), DeliveryState::completed);
  ASSERT_TRUE(steps.next().catalog->pause(steps.destination("one"), false));
  EXPECT_TRUE(steps.next().catalog->paused()->empty());
  EXPECT_EQ(ids(steps.leased("one", {.max = 10})), "b");
}

// awa #326: numbers assumed to be contiguous collided with those of another batch.
void all_fences_of_a_batch_are_distinct_and_increasing(InboxSteps& steps) {
  steps.fresh_many(20, {.to = {"one", "two"}});
  std::vector<std::int64_t> fences;
  for (int round = 0; round < 4; ++round) {
    const LeaseRequest requests[]{
        {.from = steps.destination("one"), .max = 5, .lease = seconds(30), .holder = {}},
        {.from = steps.destination("two"), .max = 5, .lease = seconds(30), .holder = {}}};
    const Result<std::vector<Lease>> answers = steps.next().queue->write({.lease = requests}).lease;
    ASSERT_TRUE(answers) << answers.error().to_string();
    std::vector<std::int64_t> round_fences;
    for (const Lease& lease : *answers) {
      for (const Leased& each : lease.deliveries) round_fences.push_back(each.fence.value());
    }
    ASSERT_EQ(round_fences.size(), 10U);
    const std::int64_t lowest = *std::min_element(round_fences.begin(), round_fences.end());
    EXPECT_GT(lowest, fences.empty() ? 0 : *std::max_element(fences.begin(), fences.end()));
    fences.insert(fences.end(), round_fences.begin(), round_fences.end());
  }
  EXPECT_EQ(std::set(fences.begin(), fences.end()).size(), 40U);
}

// graphile-worker, PR 313: hanging jobs kept their old due time and always came first.
void an_expired_lease_does_not_overtake_older_deliveries(InboxSteps& steps) {
  steps.fresh({.id = "poison"});
  steps.lease_one("dst", {.lease = seconds(1)});
  steps.advance(milliseconds(500));
  steps.fresh({.id = "a"});
  steps.fresh({.id = "b"});
  steps.advance(seconds(1));
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a b poison");
}

// River #1318: a full batch of ineligible jobs hid all jobs behind it.
void blocked_deliveries_do_not_hide_ready_ones(InboxSteps& steps) {
  steps.fresh_many(30, {});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(steps.leased("dst", {.max = 100, .lease = seconds(1), .holder = kPull}).size(), 30U);
    steps.advance(seconds(1));
  }
  steps.fresh({.id = "last"});
  LeaseHow how{.max = 10, .holder = kPull, .max_abandons = 3};
  const Lease first = steps.lease("dst", how);
  EXPECT_TRUE(first.deliveries.empty());
  EXPECT_EQ(first.passed, 10U) << "passed reports that more rows remain";
  EXPECT_EQ(ids(steps.lease_all("dst", how)), "last");
}

void an_expired_pull_lease_is_counted_when_it_is_leased_again(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.lease_one("dst", {.holder = kPull}).abandons, 0U);
  steps.advance(seconds(30));
  EXPECT_EQ(steps.row(event).abandons, 0U) << "no other worker has leased it yet";
  EXPECT_EQ(steps.lease_one("dst", {.holder = kPull}).abandons, 1U);
  steps.advance(seconds(30));
  const Leased third =
      steps.lease_one("dst", {.holder = {Holder::Kind::library, 3}, .max_abandons = 3});
  EXPECT_EQ(third.abandons, 2U);
  EXPECT_EQ(third.attempt, 1U) << "an abandon is not a failure";
  steps.advance(seconds(30));
  EXPECT_EQ(steps.lease("dst", {.max_abandons = 3}).passed, 1U);
  const DeliveryRow row = steps.row(event);
  EXPECT_EQ(row.state, DeliveryState::dead);
  EXPECT_EQ(row.reason, EndReason::abandoned);
  EXPECT_EQ(row.abandons, 3U);
  EXPECT_EQ(row.attempts, 0U);
}

void an_expired_push_lease_is_not_counted(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  for (int i = 0; i < 5; ++i) {
    const Leased lease = steps.lease_one("dst", {.max_abandons = 1});
    EXPECT_EQ(lease.attempt, 1U);
    EXPECT_EQ(lease.abandons, 0U);
    steps.advance(seconds(30));
  }
  EXPECT_EQ(steps.state(event), DeliveryState::pending) << "it is retried, not dead";
}

// Solid Queue #589: a job was both failed and finished.
void an_abandoned_dead_letter_is_not_completed_by_a_late_worker(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased late = steps.lease_one("dst", {.holder = kPull});
  steps.advance(seconds(30));
  EXPECT_EQ(steps.lease("dst", {.holder = kPull, .max_abandons = 1}).passed, 1U);
  EXPECT_EQ(steps.settle(late, Ack{}), Settled::stale);
  EXPECT_EQ(steps.state(event), DeliveryState::dead);
  EXPECT_TRUE(steps.detail(event).attempts.empty());
}

void a_delivery_past_its_horizon_is_dead(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const LeaseHow how{.horizon = hours(1)};
  steps.advance(hours(2));  // the horizon starts with the first byte sent
  const Leased first = steps.lease_one("dst", how);
  EXPECT_EQ(steps.settle(first, RetryIn{hours(1) - milliseconds(1)}), Settled::ok);
  steps.advance(hours(1) - milliseconds(1));
  EXPECT_EQ(steps.settle(steps.lease_one("dst", how), RetryIn{milliseconds(1)}), Settled::ok);
  steps.advance(milliseconds(1));
  const Lease none = steps.lease("dst", how);
  EXPECT_TRUE(none.deliveries.empty());
  EXPECT_EQ(none.passed, 1U);
  EXPECT_EQ(steps.state(event), DeliveryState::dead);
  EXPECT_EQ(steps.row(event).reason, EndReason::horizon);
  EXPECT_EQ(steps.row(event).attempts, 2U);
}

// awa #134: a stale candidate set gave one job to two workers.
void threads_never_lease_the_same_delivery(InboxSteps& steps) {
  constexpr std::size_t kDeliveries = 400;
  std::vector<Incoming> request;
  for (std::size_t i = 0; i < kDeliveries; ++i) request.push_back({.id = std::to_string(i)});
  ASSERT_TRUE(steps.admit_together(request));
  const DestinationNo from = steps.destination("dst");
  std::mutex mutex;
  std::multiset<std::string> seen;
  all_at_once(8, [&](int thread) {
    for (int idle = 0; idle < 3;) {
      const LeaseRequest request_of_thread{
          .from = from, .max = 7, .lease = seconds(30), .holder = {Holder::Kind::push, thread}};
      const auto answer =
          steps.same().queue->write({.lease = std::span(&request_of_thread, 1)}).lease;
      ASSERT_TRUE(answer) << answer.error().to_string();
      idle = answer->front().deliveries.empty() ? idle + 1 : 0;
      const std::lock_guard lock(mutex);
      for (const Leased& each : answer->front().deliveries) seen.insert(each.event.id);
    }
  });
  EXPECT_EQ(seen.size(), kDeliveries);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), kDeliveries);
}

void the_leases_of_a_dead_server_are_released_at_once(InboxSteps& steps) {
  const std::vector<EventNo> events = steps.fresh_many(4, {});
  const Leased dead = steps.lease_one("dst", {.holder = {Holder::Kind::push, 1}});
  const Leased other = steps.lease_one("dst", {.holder = {Holder::Kind::push, 2}});
  const Leased worker = steps.lease_one("dst", {.holder = kPull});
  steps.advance(seconds(1));
  const auto freed =
      steps.next().queue->release_holder({.kind = Holder::Kind::push, .owner = std::int64_t{1}});
  ASSERT_TRUE(freed) << freed.error().to_string();
  EXPECT_EQ(freed->deliveries, 1U);
  EXPECT_TRUE(freed->done);
  EXPECT_EQ(steps.state(events[0]), DeliveryState::pending);
  EXPECT_TRUE(steps.row(events[0]).first_sent) << "a byte may have been sent";
  EXPECT_EQ(steps.settle(dead, Ack{}), Settled::stale);
  steps.ack(other);
  const std::vector<Leased> rest = steps.leased("dst", {.max = 10});
  EXPECT_EQ(ids(rest), "3 0");
  EXPECT_EQ(rest.at(1).attempt, 1U);
  EXPECT_EQ(rest.at(1).abandons, 0U);
  EXPECT_EQ(steps.next().queue->release_holder({.kind = Holder::Kind::push})->deliveries, 2U);
  steps.ack(worker);
}

// River #1302: a rescue based on a stale read overwrote jobs completed since.
void releasing_leases_does_not_touch_settled_deliveries(InboxSteps& steps) {
  const std::vector<EventNo> events = steps.fresh_many(3, {});
  steps.ack(steps.lease_one());
  steps.kill(steps.lease_one());
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{hours(1)}), Settled::ok);
  EXPECT_EQ(steps.next().queue->release_holder({.kind = Holder::Kind::push})->deliveries, 0U);
  EXPECT_EQ(steps.state(events[0]), DeliveryState::completed);
  EXPECT_EQ(steps.state(events[1]), DeliveryState::dead);
  EXPECT_TRUE(steps.nothing_due());
}

// The whole answer is held in memory, so its size in bytes is bounded too.
void a_lease_respects_its_byte_limit(InboxSteps& steps) {
  constexpr std::size_t kEnough = 4;  // bodies that almost fill the limit
  const std::string body(kMaxLeaseBytes / kEnough - 100, 'b');
  for (std::size_t i = 0; i < 2 * kEnough; ++i) {
    steps.fresh({.id = std::to_string(i), .body = body});
  }
  const Lease first = steps.lease("dst", {.max = 100});
  EXPECT_EQ(first.deliveries.size(), kEnough + 1) << "the last one exceeds the limit";
  EXPECT_EQ(first.passed, kEnough - 1) << "others remain";
  const Lease second = steps.lease("dst", {.max = 100});
  EXPECT_EQ(second.deliveries.size(), kEnough - 1);
  EXPECT_EQ(second.passed, 0U);
}

constexpr InboxCase kLeaseCases[] = {
    {"ALeaseCarriesTheEventAndAFence", a_lease_carries_the_event_and_a_fence},
    {"ALeasedDeliveryShowsItsHolderAndExpiry", a_leased_delivery_shows_its_holder_and_expiry},
    {"ALeasedDeliveryIsNotLeasedAgainUntilItsLeaseExpires",
     a_leased_delivery_is_not_leased_again_until_its_lease_expires},
    {"DeliveriesAreLeasedInTheOrderTheyAreDue", deliveries_are_leased_in_the_order_they_are_due},
    {"ALeaseReturnsNoMoreThanRequested", a_lease_returns_no_more_than_requested},
    {"ALeaseRespectsItsByteLimit", a_lease_respects_its_byte_limit},
    {"DestinationsDoNotGetEachOthersDeliveries", destinations_do_not_get_each_others_deliveries},
    {"APausedDestinationLeasesNothingUntilItIsResumed",
     a_paused_destination_leases_nothing_until_it_is_resumed},
    {"AllFencesOfABatchAreDistinctAndIncreasing",
     all_fences_of_a_batch_are_distinct_and_increasing},
    {"AnExpiredLeaseDoesNotOvertakeOlderDeliveries",
     an_expired_lease_does_not_overtake_older_deliveries},
    {"BlockedDeliveriesDoNotHideReadyOnes", blocked_deliveries_do_not_hide_ready_ones},
    {"AnExpiredPullLeaseIsCountedWhenItIsLeasedAgain",
     an_expired_pull_lease_is_counted_when_it_is_leased_again},
    {"AnExpiredPushLeaseIsNotCounted", an_expired_push_lease_is_not_counted},
    {"AnAbandonedDeadLetterIsNotCompletedByALateWorker",
     an_abandoned_dead_letter_is_not_completed_by_a_late_worker},
    {"ADeliveryPastItsHorizonIsDead", a_delivery_past_its_horizon_is_dead},
    {"ThreadsNeverLeaseTheSameDelivery", threads_never_lease_the_same_delivery, false},
    {"TheLeasesOfADeadServerAreReleasedAtOnce", the_leases_of_a_dead_server_are_released_at_once},
    {"ReleasingLeasesDoesNotTouchSettledDeliveries",
     releasing_leases_does_not_touch_settled_deliveries},
};

}  // namespace

std::span<const InboxCase> lease_cases() {
  return kLeaseCases;
}

}  // namespace hapax::test
