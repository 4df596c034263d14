// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Settling: a lease ends once, by its holder.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

const std::vector<Disposition> kEnding{Ack{}, RetryIn{seconds(1)}, Drop{},
                                       Dead{EndReason::exhausted, OnDead::skip}, Release{}};

void an_ack_completes(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  steps.ack(lease);
  const DeliveryRow row = steps.row(event);
  EXPECT_EQ(row.state, DeliveryState::completed);
  EXPECT_EQ(row.ended, lease.event.received);
  EXPECT_EQ(row.to, steps.destination("dst"));
  steps.advance(hours(1));
  EXPECT_TRUE(steps.nothing_due());
}

void a_retry_is_due_after_its_delay_and_is_counted(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  for (unsigned attempt = 1; attempt <= 3; ++attempt) {
    const Leased lease = steps.lease_one();
    EXPECT_EQ(lease.attempt, attempt);
    EXPECT_EQ(steps.settle(lease, RetryIn{seconds(60)}), Settled::ok);
    EXPECT_EQ(steps.row(event).attempts, attempt);
    EXPECT_EQ(steps.state(event), DeliveryState::pending);
    steps.advance(seconds(60) - milliseconds(1));
    EXPECT_TRUE(steps.nothing_due());
    steps.advance(milliseconds(1));
  }
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{}), Settled::ok);
  EXPECT_EQ(steps.lease_one().attempt, 5U) << "due at once without a delay";
}

void a_drop_cancels(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.settle(steps.lease_one(), Drop{}), Settled::ok);
  EXPECT_EQ(steps.state(event), DeliveryState::cancelled);
  EXPECT_EQ(steps.row(event).reason, EndReason::dropped);
  EXPECT_EQ(steps.row(event).attempts, 0U);
  EXPECT_TRUE(steps.nothing_due());
}

void a_dead_letter_has_its_reason_and_is_counted(InboxSteps& steps) {
  for (const EndReason reason : {EndReason::exhausted, EndReason::gone, EndReason::horizon}) {
    const EventNo event = steps.fresh({.id = std::string(name(reason))});
    EXPECT_EQ(steps.settle(steps.lease_one(), Dead{reason, OnDead::skip}), Settled::ok);
    EXPECT_EQ(steps.state(event), DeliveryState::dead);
    EXPECT_EQ(steps.row(event).reason, reason);
    EXPECT_EQ(steps.row(event).attempts, 1U);
    EXPECT_TRUE(steps.row(event).ended);
  }
}

// River #1290: a graceful stop cost an attempt and a delay.
void a_release_is_not_counted_and_is_due_at_once(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{}), Settled::ok);
  for (int i = 0; i < 3; ++i) {
    const Leased lease = steps.lease_one("dst", {.holder = kPull, .max_abandons = 1});
    EXPECT_EQ(lease.attempt, 2U);
    EXPECT_EQ(lease.abandons, 0U);
    EXPECT_EQ(steps.settle(lease, Release{}), Settled::ok);
    EXPECT_EQ(steps.state(event), DeliveryState::pending);
  }
  EXPECT_EQ(steps.lease_one().attempt, 2U);
}

void a_released_delivery_queues_behind_older_ones(InboxSteps& steps) {
  steps.fresh({.id = "a"});
  const Leased lease = steps.lease_one();
  steps.fresh({.id = "b"});
  steps.advance(seconds(1));
  EXPECT_EQ(steps.settle(lease, Release{}), Settled::ok);
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "b a");
}

void an_unsent_release_of_the_first_lease_has_sent_nothing(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_FALSE(steps.row(event).first_sent);
  EXPECT_EQ(steps.settle(steps.lease_one(), Release{.sent = false}), Settled::ok);
  EXPECT_FALSE(steps.row(event).first_sent);
  EXPECT_EQ(steps.settle(steps.lease_one(), Release{.sent = true}), Settled::ok);
  const std::optional<WallTime> sent = steps.row(event).first_sent;
  EXPECT_TRUE(sent);
  steps.advance(seconds(1));
  EXPECT_EQ(steps.settle(steps.lease_one(), Release{.sent = false}), Settled::ok);
  EXPECT_EQ(steps.row(event).first_sent, sent) << "an earlier lease may have sent a byte";
}

void a_failure_without_a_byte_sent_has_sent_nothing(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{.sent = false}), Settled::ok);
  EXPECT_FALSE(steps.row(event).first_sent);
  EXPECT_EQ(steps.row(event).attempts, 1U) << "still a failed attempt";
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{}), Settled::ok);
  const std::optional<WallTime> sent = steps.row(event).first_sent;
  EXPECT_TRUE(sent);
  steps.advance(seconds(1));
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{.sent = false}), Settled::ok);
  EXPECT_EQ(steps.row(event).first_sent, sent) << "an earlier attempt may have sent a byte";
}

void an_expired_lease_may_have_sent_a_byte(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lost = steps.lease_one();
  steps.advance(seconds(30));
  EXPECT_EQ(steps.settle(steps.lease_one(), Release{.sent = false}), Settled::ok);
  EXPECT_EQ(steps.row(event).first_sent, lost.event.received);
}

void a_renewed_lease_starts_from_now(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  steps.advance(seconds(20));
  EXPECT_EQ(steps.settle(lease, Renew{seconds(30)}), Settled::ok);
  steps.advance(seconds(29));
  EXPECT_TRUE(steps.nothing_due());
  EXPECT_EQ(steps.settle(lease, Renew{seconds(1)}), Settled::ok);
  steps.advance(seconds(1));
  EXPECT_EQ(steps.state(event), DeliveryState::pending);
  EXPECT_EQ(steps.settle(lease, Renew{seconds(5)}), Settled::ok) << "no other worker has leased it";
  EXPECT_TRUE(steps.nothing_due());
  steps.ack(lease);
  EXPECT_EQ(steps.detail(event).attempts.size(), 1U);
}

// awa alpha.3: a heartbeat after the completion recreated the attempt.
void a_renew_after_the_end_changes_nothing(InboxSteps& steps) {
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    const EventNo event = steps.fresh({.id = std::to_string(i), .to = {std::to_string(i)}});
    const Leased lease = steps.lease_one(std::to_string(i));
    EXPECT_EQ(steps.settle(lease, kEnding[i]), Settled::ok);
    const DeliveryRow before = steps.row(event);
    EXPECT_EQ(steps.settle(lease, Renew{hours(1)}), Settled::stale);
    EXPECT_EQ(steps.row(event).state, before.state);
    EXPECT_EQ(steps.row(event).due, before.due);
    EXPECT_EQ(steps.detail(event).attempts.size(), 1U);
  }
}

void a_repeated_settle_is_ok_and_a_different_one_is_stale(InboxSteps& steps) {
  for (std::size_t i = 0; i < kEnding.size(); ++i) {
    const EventNo event = steps.fresh({.id = std::to_string(i), .to = {std::to_string(i)}});
    const Leased lease = steps.lease_one(std::to_string(i));
    EXPECT_EQ(steps.settle(lease, kEnding[i]), Settled::ok);
    const DeliveryRow before = steps.row(event);
    steps.advance(milliseconds(10));
    for (std::size_t j = 0; j < kEnding.size(); ++j) {
      EXPECT_EQ(steps.settle(lease, kEnding[j]), i == j ? Settled::ok : Settled::stale)
          << i << " then " << j;
    }
    EXPECT_EQ(steps.row(event).state, before.state);
    EXPECT_EQ(steps.row(event).due, before.due);
    EXPECT_EQ(steps.row(event).attempts, before.attempts);
    EXPECT_EQ(steps.detail(event).attempts.size(), 1U);
  }
}

void a_repeated_settle_is_recognized_after_the_next_lease_too(InboxSteps& steps) {
  steps.fresh({});
  const Leased first = steps.lease_one();
  EXPECT_EQ(steps.settle(first, RetryIn{}), Settled::ok);
  const Leased second = steps.lease_one();
  EXPECT_EQ(steps.settle(first, RetryIn{hours(1)}), Settled::ok) << "the same outcome repeated";
  EXPECT_EQ(steps.settle(first, Ack{}), Settled::stale);
  EXPECT_EQ(second.attempt, 2U);
  steps.ack(second);
  EXPECT_EQ(steps.settle(first, RetryIn{}), Settled::ok);
  EXPECT_EQ(steps.settle(second, Ack{}), Settled::ok);
}

void a_delivery_settled_twice_in_one_batch_is_settled_once(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  const Settlement batch[]{{ref(lease), lease.fence, Ack{}},
                           {ref(lease), lease.fence, Ack{}},
                           {ref(lease), lease.fence, RetryIn{}}};
  const auto answers = steps.next().queue->write({.settle = batch}).settle;
  ASSERT_TRUE(answers) << answers.error().to_string();
  EXPECT_EQ(*answers, (std::vector{Settled::ok, Settled::ok, Settled::stale}));
  EXPECT_EQ(steps.detail(event).attempts.size(), 1U);
}

// River: attempt N - 1 completed attempt N. NATS #4786: a late ack acknowledged the redelivery to
// another consumer.
void an_old_fence_settles_nothing(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased old = steps.lease_one("dst", {.holder = kPull});
  steps.advance(seconds(30));
  const Leased current = steps.lease_one("dst", {.holder = {Holder::Kind::pull, 8}});
  for (const Disposition& each : kEnding) EXPECT_EQ(steps.settle(old, each), Settled::stale);
  EXPECT_EQ(steps.settle(old, Renew{hours(1)}), Settled::stale);
  EXPECT_EQ(steps.row(event).state, DeliveryState::leased);
  EXPECT_EQ(steps.row(event).due, current.until);
  EXPECT_TRUE(steps.detail(event).attempts.empty());
  steps.ack(current);
}

// Oban: a rescued job waiting for its retry was marked completed.
void an_old_fence_does_not_complete_a_delivery_waiting_for_retry(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased old = steps.lease_one();
  steps.advance(seconds(30));
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{hours(1)}), Settled::ok);
  EXPECT_EQ(steps.settle(old, Ack{}), Settled::stale);
  EXPECT_EQ(steps.state(event), DeliveryState::pending);
  steps.advance(hours(1));
  EXPECT_EQ(steps.lease_one().attempt, 2U);
}

// River #1302 from the other side: a job was completed between the scan and the rescue.
void an_expired_lease_nobody_else_took_can_still_be_settled(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one("dst", {.holder = kPull});
  steps.advance(hours(3));
  EXPECT_EQ(steps.state(event), DeliveryState::pending);
  steps.ack(lease);
  EXPECT_EQ(steps.state(event), DeliveryState::completed);
  EXPECT_TRUE(steps.nothing_due()) << "it is completed and must not be retried";
}

// River #1308: a job removed while it ran crashed its worker.
void a_delivery_cancelled_while_leased_is_stale(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  EXPECT_EQ(steps.cancel(event), Cancelled::done);
  for (const Disposition& each : kEnding) EXPECT_EQ(steps.settle(lease, each), Settled::stale);
  EXPECT_EQ(steps.settle(lease, Renew{seconds(1)}), Settled::stale);
  EXPECT_EQ(steps.state(event), DeliveryState::cancelled);
}

void a_delivery_removed_while_leased_is_unknown(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {}, .listen = {"dev"}});
  const Leased lease = steps.lease_one("dev");
  EXPECT_EQ(steps.sweep(seconds(0), seconds(0)), 1U) << "listen deliveries do not retain events";
  for (const Disposition& each : kEnding) EXPECT_EQ(steps.settle(lease, each), Settled::unknown);
  EXPECT_EQ(steps.presence(event), Presence::gone);
}

void the_answers_of_a_batch_are_in_order(InboxSteps& steps) {
  steps.fresh_many(3, {});
  const std::vector<Leased> leases = steps.leased("dst", {.max = 3});
  ASSERT_EQ(leases.size(), 3U);
  const DeliveryRef missing{EventNo(77), DeliveryNo(1)};
  const Settlement batch[]{{ref(leases[2]), leases[2].fence, Ack{}},
                           {missing, Fence(1), Ack{}},
                           {ref(leases[0]), leases[1].fence, Ack{}},
                           {ref(leases[1]), leases[1].fence, Renew{hours(1)}}};
  const auto answers = steps.next().queue->write({.settle = batch}).settle;
  ASSERT_TRUE(answers) << answers.error().to_string();
  EXPECT_EQ(*answers, (std::vector{Settled::ok, Settled::unknown, Settled::stale, Settled::ok}));
}

void a_mixed_batch_settles_then_admits_then_leases(InboxSteps& steps) {
  steps.fresh({.id = "a", .order_key = "k"});
  steps.fresh({.id = "b", .order_key = "k"});
  const Leased head = steps.lease_one();
  const Settlement settlement{ref(head), head.fence, Ack{}};
  const Target target{steps.destination("dst")};
  const Arrival arrival{.no = steps.new_number(),
                        .source = steps.source("src"),
                        .key = "c",
                        .id = "c",
                        .targets = std::span(&target, 1)};
  const Admit admit{std::span(&arrival, 1)};
  const LeaseRequest request{.from = target.to, .max = 10, .lease = seconds(30), .holder = {}};
  const Answers answers = steps.next().queue->write({.settle = std::span(&settlement, 1),
                                                     .admit = std::span(&admit, 1),
                                                     .lease = std::span(&request, 1)});
  ASSERT_TRUE(answers.settle && answers.lease && answers.admit.at(0));
  EXPECT_EQ(answers.settle->front(), Settled::ok);
  EXPECT_EQ(ids(answers.lease->front().deliveries), "b c");
}

void attempts_are_recorded_with_their_notes(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const WallTime when{std::chrono::microseconds(1'650'000'000'123'000)};
  const std::string excerpt(kMaxExcerpt, '\xff');
  const Leased first = steps.lease_one();
  EXPECT_EQ(steps.settle(first, RetryIn{}, {when, milliseconds(250), 503, "status", excerpt}),
            Settled::ok);
  steps.advance(seconds(2));
  const Leased second = steps.lease_one();
  EXPECT_EQ(steps.settle(second, Ack{}, {when + seconds(2), milliseconds(3), 204, "", ""}),
            Settled::ok);
  const std::vector<Attempt> log = steps.detail(event).attempts;
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].delivery, DeliveryNo(1));
  EXPECT_EQ(log[0].fence, first.fence);
  EXPECT_EQ(log[0].outcome, AttemptOutcome::retried);
  EXPECT_EQ(log[0].when, when);
  EXPECT_EQ(log[0].settled, first.event.received);
  EXPECT_EQ(log[0].took, milliseconds(250));
  EXPECT_EQ(log[0].status, 503);
  EXPECT_EQ(log[0].error, "status");
  EXPECT_EQ(log[0].excerpt, excerpt);
  EXPECT_EQ(log[1].outcome, AttemptOutcome::completed);
  EXPECT_EQ(log[1].settled, first.event.received + seconds(2));
  EXPECT_EQ(log[1].status, 204);
}

void only_the_last_attempts_are_shown(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const int attempts = static_cast<int>(kMaxShownAttempts) + 5;
  for (int i = 0; i < attempts; ++i) {
    ASSERT_EQ(steps.settle(steps.lease_one(), RetryIn{}, {{}, {}, i, "", ""}), Settled::ok);
  }
  const std::vector<Attempt> log = steps.detail(event).attempts;
  ASSERT_EQ(log.size(), kMaxShownAttempts);
  EXPECT_EQ(log.front().status, 5);
  EXPECT_EQ(log.back().status, attempts - 1);
}

constexpr InboxCase kSettleCases[] = {
    {"AnAckCompletes", an_ack_completes},
    {"ARetryIsDueAfterItsDelayAndIsCounted", a_retry_is_due_after_its_delay_and_is_counted},
    {"ADropCancels", a_drop_cancels},
    {"ADeadLetterHasItsReasonAndIsCounted", a_dead_letter_has_its_reason_and_is_counted},
    {"AReleaseIsNotCountedAndIsDueAtOnce", a_release_is_not_counted_and_is_due_at_once},
    {"AReleasedDeliveryQueuesBehindOlderOnes", a_released_delivery_queues_behind_older_ones},
    {"AnUnsentReleaseOfTheFirstLeaseHasSentNothing",
     an_unsent_release_of_the_first_lease_has_sent_nothing},
    {"AFailureWithoutAByteSentHasSentNothing", a_failure_without_a_byte_sent_has_sent_nothing},
    {"AnExpiredLeaseMayHaveSentAByte", an_expired_lease_may_have_sent_a_byte},
    {"ARenewedLeaseStartsFromNow", a_renewed_lease_starts_from_now},
    {"ARenewAfterTheEndChangesNothing", a_renew_after_the_end_changes_nothing},
    {"ARepeatedSettleIsOkAndADifferentOneIsStale",
     a_repeated_settle_is_ok_and_a_different_one_is_stale},
    {"ARepeatedSettleIsRecognizedAfterTheNextLeaseToo",
     a_repeated_settle_is_recognized_after_the_next_lease_too},
    {"ADeliverySettledTwiceInOneBatchIsSettledOnce",
     a_delivery_settled_twice_in_one_batch_is_settled_once},
    {"AnOldFenceSettlesNothing", an_old_fence_settles_nothing},
    {"AnOldFenceDoesNotCompleteADeliveryWaitingForRetry",
     an_old_fence_does_not_complete_a_delivery_waiting_for_retry},
    {"AnExpiredLeaseNobodyElseTookCanStillBeSettled",
     an_expired_lease_nobody_else_took_can_still_be_settled},
    {"ADeliveryCancelledWhileLeasedIsStale", a_delivery_cancelled_while_leased_is_stale},
    {"ADeliveryRemovedWhileLeasedIsUnknown", a_delivery_removed_while_leased_is_unknown},
    {"TheAnswersOfABatchAreInOrder", the_answers_of_a_batch_are_in_order},
    {"AMixedBatchSettlesThenAdmitsThenLeases", a_mixed_batch_settles_then_admits_then_leases},
    {"AttemptsAreRecordedWithTheirNotes", attempts_are_recorded_with_their_notes},
    {"OnlyTheLastAttemptsAreShown", only_the_last_attempts_are_shown},
};

}  // namespace

std::span<const InboxCase> settle_cases() {
  return kSettleCases;
}

}  // namespace hapax::test
