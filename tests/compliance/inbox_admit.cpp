// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Admission: fresh, duplicate and changed arrivals, and observe mode.
#include "compliance/inbox_suite.hpp"

#include <atomic>

namespace hapax::test {

namespace {

using Kind = Admission::Kind;

void the_first_arrival_is_fresh_and_later_ones_are_duplicates_of_it(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a"});
  EXPECT_EQ(steps.admit({.id = "a"}), (Admission{Kind::duplicate, first}));
  EXPECT_EQ(steps.admit({.id = "a"}), (Admission{Kind::duplicate, first}));
  const EventNo other = steps.fresh({.id = "b"});
  EXPECT_EQ(steps.admit({.id = "b"}), (Admission{Kind::duplicate, other}));
  EXPECT_EQ(steps.lease_all("dst").size(), 2U) << "a duplicate is not delivered";
}

void sources_and_tenants_have_separate_ids(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a", .source = "x"});
  steps.fresh({.id = "a", .source = "y"});
  steps.fresh({.id = "a", .source = "x", .tenant = "t"});
  steps.fresh({.id = "ta", .source = "x"});
  steps.fresh({.id = "a", .source = "x", .tenant = "ta"});
  steps.fresh({.id = "aa", .source = "x", .tenant = "t"});
  EXPECT_EQ(steps.admit({.id = "a", .source = "x"}), (Admission{Kind::duplicate, first}));
}

void a_changed_body_is_reported_as_a_changed_duplicate(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a", .body = "one"});
  EXPECT_EQ(steps.admit({.id = "a", .body = "two"}), (Admission{Kind::changed, first}));
  EXPECT_EQ(steps.admit({.id = "a", .body = "one"}), (Admission{Kind::duplicate, first}));
  EXPECT_EQ(*steps.next().catalog->body(first, BodyOf::event)->value, "one");
}

void an_arrival_without_an_id_is_always_a_new_event(InboxSteps& steps) {
  steps.fresh({.id = "", .keyless = true});
  steps.fresh({.id = "", .keyless = true});
  steps.fresh({.id = "a", .keyless = true});
  steps.fresh({.id = "a"});
  EXPECT_EQ(steps.lease_all("dst").size(), 4U);
}

void every_target_gets_its_own_delivery(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"one", "two", "three"}});
  const EventDetail detail = steps.detail(event);
  ASSERT_EQ(detail.deliveries.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(detail.deliveries[i].no, DeliveryNo(static_cast<std::int64_t>(i) + 1));
    EXPECT_EQ(detail.deliveries[i].state, DeliveryState::pending);
  }
  EXPECT_EQ(detail.deliveries[2].to, steps.destination("three"));
  steps.deliver("two");
  EXPECT_EQ(steps.state(event, 1), DeliveryState::pending);
  EXPECT_EQ(steps.state(event, 2), DeliveryState::completed);
}

void a_source_without_destinations_only_archives(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .to = {}});
  EXPECT_EQ(steps.detail(event).row.status, DeliveryState::completed);
  EXPECT_TRUE(steps.detail(event).deliveries.empty());
  EXPECT_EQ(steps.admit({.id = "a", .to = {}}), (Admission{Kind::duplicate, event}));
}

void arrivals_of_one_request_are_answered_in_order(InboxSteps& steps) {
  const EventNo known = steps.fresh({.id = "known", .body = "old"});
  const AdmitAnswer answers =
      steps.admit_together({{.id = "z"}, {.id = "known", .body = "new"}, {.id = "a"}, {.id = "z"}});
  ASSERT_TRUE(answers) << answers.error().to_string();
  ASSERT_EQ(answers->size(), 4U);
  EXPECT_EQ(answers->at(0).kind, Kind::fresh);
  EXPECT_EQ(answers->at(1), (Admission{Kind::changed, known}));
  EXPECT_EQ(answers->at(2).kind, Kind::fresh);
  EXPECT_EQ(answers->at(3), (Admission{Kind::duplicate, answers->at(0).event}));
}

void a_repeated_id_in_one_batch_belongs_to_the_first_arrival(InboxSteps& steps) {
  const auto answers =
      steps.admit_batch({{{.id = "a", .body = "one"}}, {{.id = "a", .body = "2"}}});
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_TRUE(answers[0] && answers[1]);
  EXPECT_EQ(answers[0]->front().kind, Kind::fresh);
  EXPECT_EQ(answers[1]->front(), (Admission{Kind::changed, answers[0]->front().event}));
}

// Oban #1087: an insert was skipped because it conflicted with another insert that then rolled
// back, and both were lost.
void a_failed_arrival_rolls_back_its_request_and_burns_no_id(InboxSteps& steps) {
  const EventNo taken = steps.fresh({.id = "x"});
  const AdmitAnswer failed =
      steps.admit_together({{.id = "a"}, {.id = "b", .no = taken}, {.id = "c"}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::store_busy);
  EXPECT_EQ(failed.error().outcome(), Outcome::did_not_happen);
  EXPECT_EQ(ids(steps.lease_all("dst")), "x");
  for (const char* id : {"a", "b", "c"}) steps.fresh({.id = id});
  EXPECT_EQ(ids(steps.lease_all("dst")), "a b c");
}

void items_of_a_batch_succeed_or_fail_independently(InboxSteps& steps) {
  const EventNo taken = steps.fresh({.id = "x", .body = "other"});
  const auto answers = steps.admit_batch({{{.id = "a"}},
                                          {{.id = "b"}, {.id = "c", .no = taken}},
                                          {{.id = "d", .no = taken, .keyless = true}},
                                          {{.id = "b"}}});
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  EXPECT_FALSE(answers[2]);
  ASSERT_TRUE(answers[3]) << answers[3].error().to_string();
  EXPECT_EQ(answers[3]->front().kind, Kind::fresh);
}

void an_admit_repeated_with_its_numbers_gets_its_first_answer_again(InboxSteps& steps) {
  const EventNo known = steps.fresh({.id = "known"});
  const std::vector<Incoming> request{{.id = "a", .no = steps.new_number()},
                                      {.id = "known", .no = steps.new_number()},
                                      {.id = "", .no = steps.new_number(), .keyless = true}};
  for (int i = 0; i < 3; ++i) {
    const AdmitAnswer answers = steps.admit_together(request);
    ASSERT_TRUE(answers) << answers.error().to_string();
    EXPECT_EQ(answers->at(0), (Admission{Kind::fresh, request[0].no}));
    EXPECT_EQ(answers->at(1), (Admission{Kind::duplicate, known}));
    EXPECT_EQ(answers->at(2), (Admission{Kind::fresh, request[2].no}));
  }
  EXPECT_EQ(steps.lease_all("dst").size(), 3U) << "stored once despite the repeats";
  EXPECT_EQ(steps.admit({.id = "a"}), (Admission{Kind::duplicate, request[0].no}));
}

void a_repeated_admit_does_not_restore_delivered_events(InboxSteps& steps) {
  const Incoming request{.id = "a", .no = steps.new_number()};
  steps.fresh(request);
  steps.deliver();
  EXPECT_EQ(steps.admit(request), (Admission{Kind::fresh, request.no}));
  EXPECT_TRUE(steps.nothing_due());
  EXPECT_EQ(steps.state(request.no), DeliveryState::completed);
}

void an_arrival_whose_claim_was_taken_over_is_a_duplicate(InboxSteps& steps) {
  const Incoming old{.id = "a", .remember = seconds(1), .no = steps.new_number()};
  steps.fresh(old);
  steps.deliver();
  steps.advance(seconds(1));
  const EventNo next = steps.fresh({.id = "a"});
  EXPECT_EQ(steps.admit(old), (Admission{Kind::duplicate, next}));
}

void in_observe_mode_a_duplicate_is_stored_without_a_claim(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a", .order_key = "lane"});
  const Incoming again{.id = "a", .order_key = "lane", .no = steps.new_number()};
  EXPECT_EQ(steps.admit(again, Would::duplicate), (Admission{Kind::fresh, again.no}));
  EXPECT_EQ(steps.admit(again, Would::duplicate), (Admission{Kind::fresh, again.no}));
  EXPECT_EQ(steps.detail(again.no).row.would, Would::duplicate);
  const std::vector<Leased> both = steps.leased("dst", {.max = 10});
  ASSERT_EQ(both.size(), 2U) << "it is outside lanes";
  EXPECT_EQ(both[0].event.would, Would::none);
  EXPECT_EQ(both[1].event.would, Would::duplicate);
  EXPECT_EQ(steps.admit({.id = "a"}), (Admission{Kind::duplicate, first}));
}

void in_observe_mode_a_reject_claims_nothing(InboxSteps& steps) {
  const Admission forged = steps.admit({.id = "a"}, Would::reject);
  EXPECT_EQ(forged.kind, Kind::fresh);
  EXPECT_EQ(steps.detail(forged.event).row.would, Would::reject);
  steps.fresh({.id = "a"});
}

void concurrent_copies_have_one_winner(InboxSteps& steps) {
  constexpr int kCopies = 64;
  const SourceNo source = steps.source("src");
  const Target target{steps.destination("dst")};
  std::atomic<int> won{0};
  std::atomic<std::int64_t> winner{0};
  std::vector<std::int64_t> named(kCopies);
  all_at_once(kCopies, [&](int thread) {
    const Arrival arrival{.no = EventNo(5000 + thread),
                          .source = source,
                          .key = "a",
                          .id = "a",
                          .targets = std::span(&target, 1)};
    const Admit admit{std::span(&arrival, 1)};
    const std::vector<AdmitAnswer> answers =
        steps.same().queue->write({.admit = std::span(&admit, 1)}).admit;
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_TRUE(answers[0]) << answers[0].error().to_string();
    const Admission answer = answers[0]->front();
    if (answer.kind == Kind::fresh) ++won, winner = answer.event.value();
    named[static_cast<std::size_t>(thread)] = answer.event.value();
  });
  EXPECT_EQ(won, 1);
  for (const std::int64_t each : named) EXPECT_EQ(each, winner);
  EXPECT_EQ(steps.lease_all("dst").size(), 1U);
}

constexpr InboxCase kAdmitCases[] = {
    {"TheFirstArrivalIsFreshAndLaterOnesAreDuplicatesOfIt",
     the_first_arrival_is_fresh_and_later_ones_are_duplicates_of_it},
    {"SourcesAndTenantsHaveSeparateIds", sources_and_tenants_have_separate_ids},
    {"AChangedBodyIsReportedAsAChangedDuplicate",
     a_changed_body_is_reported_as_a_changed_duplicate},
    {"AnArrivalWithoutAnIdIsAlwaysANewEvent", an_arrival_without_an_id_is_always_a_new_event},
    {"EveryTargetGetsItsOwnDelivery", every_target_gets_its_own_delivery},
    {"ASourceWithoutDestinationsOnlyArchives", a_source_without_destinations_only_archives},
    {"ArrivalsOfOneRequestAreAnsweredInOrder", arrivals_of_one_request_are_answered_in_order},
    {"ARepeatedIdInOneBatchBelongsToTheFirstArrival",
     a_repeated_id_in_one_batch_belongs_to_the_first_arrival},
    {"AFailedArrivalRollsBackItsRequestAndBurnsNoId",
     a_failed_arrival_rolls_back_its_request_and_burns_no_id},
    {"ItemsOfABatchSucceedOrFailIndependently", items_of_a_batch_succeed_or_fail_independently},
    {"AnAdmitRepeatedWithItsNumbersGetsItsFirstAnswerAgain",
     an_admit_repeated_with_its_numbers_gets_its_first_answer_again},
    {"ARepeatedAdmitDoesNotRestoreDeliveredEvents",
     a_repeated_admit_does_not_restore_delivered_events},
    {"AnArrivalWhoseClaimWasTakenOverIsADuplicate",
     an_arrival_whose_claim_was_taken_over_is_a_duplicate},
    {"InObserveModeADuplicateIsStoredWithoutAClaim",
     in_observe_mode_a_duplicate_is_stored_without_a_claim},
    {"InObserveModeARejectClaimsNothing", in_observe_mode_a_reject_claims_nothing},
    {"ConcurrentCopiesHaveOneWinner", concurrent_copies_have_one_winner, false},
};

}  // namespace

std::span<const InboxCase> admit_cases() {
  return kAdmitCases;
}

}  // namespace hapax::test
