// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Unusual and invalid input from senders, workers and clocks.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

using namespace std::string_literals;

const std::vector<std::string> kOddBytes{
    "\0"s, "\0\0"s, "a\0b"s, "a\0c"s, "\xff\xfe"s, "\xc3"s, "'"s,         "\""s,
    "%_"s, " a"s,   "\r\n"s, "A"s,    "a"s,        "\x80"s, "e\xcc\x81"s, "\xc3\xa9"s};

std::string long_text(std::size_t size, char last) {
  std::string text(size, 'x');
  text.back() = last;
  return text;
}

// Expects a rejection before any write.
void expect_refused(const AdmitAnswer& answer) {
  ASSERT_FALSE(answer) << "was accepted";
  EXPECT_EQ(answer.error().code(), Code::invalid_argument);
  EXPECT_EQ(answer.error().outcome(), Outcome::did_not_happen);
}

void a_body_of_any_size_is_stored_byte_for_byte(InboxSteps& steps) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  const std::vector<std::string> bodies{"", "x", "\0"s, every_byte, long_text(kMaxBody, '\xff')};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const EventNo event = steps.fresh({.id = std::to_string(i), .body = bodies[i]});
    EXPECT_EQ(steps.detail(event).row.body_size, bodies[i].size());
    EXPECT_TRUE(*steps.next().catalog->body(event, BodyOf::event)->value == bodies[i]) << i;
    const Leased lease = steps.lease_one();
    EXPECT_TRUE(lease.event.body == bodies[i]) << i;
    steps.ack(lease);
  }
}

void headers_with_repeated_names_and_any_bytes_keep_their_order(InboxSteps& steps) {
  const std::vector<Header> headers{{"X-A", "1"},   {"x-a", "2"}, {"X-A", ""},
                                    {"X-A", "1"},   {"", ""},     {"B", "\xff\xfe\r\n"},
                                    {"X-A", "last"}};
  const EventNo event = steps.fresh({.headers = encode_headers(headers)});
  for (const std::string& stored : {steps.detail(event).headers, steps.lease_one().event.headers}) {
    const auto read = decode_headers(stored);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), headers.size());
    for (std::size_t i = 0; i < headers.size(); ++i) {
      EXPECT_EQ(read->at(i).name, headers[i].name);
      EXPECT_EQ(read->at(i).value, headers[i].value);
    }
  }
}

void ids_tenants_and_types_may_be_any_bytes(InboxSteps& steps) {
  for (const std::string& odd : kOddBytes) {
    const EventNo event = steps.fresh({.id = odd, .to = {}, .type = odd});
    EXPECT_EQ(steps.admit({.id = odd, .to = {}}), (Admission{Admission::Kind::duplicate, event}));
    EXPECT_EQ(steps.detail(event).row.id, odd);
    EXPECT_EQ(steps.list({.type = odd}).size(), 1U);
    steps.fresh({.id = "same", .tenant = odd, .to = {}});
    EXPECT_EQ(steps.list({.tenant = odd}).size(), 1U);
  }
}

void lane_keys_may_be_any_bytes_and_stay_separate(InboxSteps& steps) {
  std::vector<std::string> keys = kOddBytes;
  for (const std::size_t size :
       {std::size_t{190}, std::size_t{199}, std::size_t{200}, std::size_t{201}, kMaxOrderKey}) {
    keys.push_back(long_text(size, 'a'));
    keys.push_back(long_text(size, 'b'));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    steps.fresh({.id = std::to_string(i) + "a", .order_key = keys[i]});
    steps.fresh({.id = std::to_string(i) + "b", .order_key = keys[i]});
    EXPECT_EQ(steps.list({.order_key = keys[i]}).size(), 2U) << i;
  }
  const std::vector<Leased> heads = steps.leased("dst", {.max = 1000});
  ASSERT_EQ(heads.size(), keys.size()) << "one head for each";
  for (std::size_t i = 0; i < heads.size(); ++i) {
    EXPECT_EQ(heads[i].event.id, std::to_string(i) + "a");
    steps.ack(heads[i]);
  }
  EXPECT_EQ(steps.leased("dst", {.max = 1000}).size(), keys.size());
}

void values_of_maximum_length_are_accepted(InboxSteps& steps) {
  const Incoming longest{.id = long_text(kMaxEventId, 'a'),
                         .tenant = long_text(kMaxTenant, 'a'),
                         .order_key = long_text(kMaxOrderKey, 'a'),
                         .remember = kMaxTtl,
                         .type = long_text(kMaxType, 'a'),
                         .headers = long_text(kMaxStoredHeaders, 'a')};
  const EventNo event = steps.fresh(longest);
  EXPECT_EQ(steps.admit(longest), (Admission{Admission::Kind::duplicate, event}));
  Incoming other = longest;
  other.id.back() = 'b';
  EXPECT_NE(steps.fresh(other), event);
  const Leased lease = steps.lease_one("dst", {.max = 1, .lease = kMaxTtl});
  EXPECT_EQ(lease.event.id, longest.id);
  EXPECT_EQ(lease.event.headers, longest.headers);
  const std::string error(kMaxAttemptError, 'e');
  const std::string excerpt(kMaxExcerpt, '\0');
  EXPECT_EQ(steps.settle(lease, RetryIn{kMaxTtl}, {{}, kMaxTtl, 599, error, excerpt}), Settled::ok);
  EXPECT_EQ(steps.detail(event).attempts.at(0).excerpt, excerpt);
}

void oversized_events_are_rejected_and_claim_nothing(InboxSteps& steps) {
  expect_refused(steps.admit_together({{.id = "a", .body = long_text(kMaxBody + 1, 'x')}}));
  expect_refused(steps.admit_together({{.id = "a"}, {.id = long_text(kMaxEventId + 1, 'x')}}));
  expect_refused(steps.admit_together({{.id = "a", .tenant = long_text(kMaxTenant + 1, 'x')}}));
  expect_refused(
      steps.admit_together({{.id = "a", .order_key = long_text(kMaxOrderKey + 1, 'x')}}));
  expect_refused(steps.admit_together({{.id = "a", .type = long_text(kMaxType + 1, 'x')}}));
  expect_refused(
      steps.admit_together({{.id = "a", .headers = long_text(kMaxStoredHeaders + 1, 'x')}}));
  expect_refused(steps.admit_together({{.id = "a", .remember = milliseconds(0)}}));
  expect_refused(steps.admit_together({{.id = "a", .remember = kMaxTtl + milliseconds(1)}}));
  expect_refused(steps.admit_together({{.id = "a", .to = {"one", "one"}}}));
  expect_refused(steps.admit_together({{.id = "a", .no = EventNo(-1)}}));
  expect_refused(
      steps.admit_together({{.id = "a", .no = EventNo(9)}, {.id = "b", .no = EventNo(9)}}));
  expect_refused(steps.admit_together({}));
  steps.fresh({.id = "a"});
}

void invalid_worker_results_are_rejected(InboxSteps&) {
  const auto refuses = [](const Disposition& disposition, const AttemptNote& note = {}) {
    const Result<void> checked = check(Settlement{{}, {}, disposition, note});
    return !checked && checked.error().code() == Code::invalid_argument;
  };
  EXPECT_TRUE(refuses(RetryIn{milliseconds(-1)}));
  EXPECT_TRUE(refuses(RetryIn{kMaxTtl + milliseconds(1)}));
  EXPECT_TRUE(refuses(Renew{milliseconds(0)}));
  EXPECT_TRUE(refuses(Dead{EndReason::abandoned, OnDead::skip}));
  EXPECT_TRUE(refuses(Dead{EndReason::none, OnDead::skip}));
  const std::string text(kMaxExcerpt + 1, 'x');
  EXPECT_TRUE(refuses(Ack{}, {.error = text, .excerpt = ""}));
  EXPECT_TRUE(refuses(Ack{}, {.error = "", .excerpt = text}));
  EXPECT_FALSE(refuses(RetryIn{milliseconds(0)}));
  EXPECT_FALSE(check(LeaseRequest{
      .from = DestinationNo(1), .max = kMaxLeaseCount + 1, .lease = seconds(1), .holder = {}}));
  EXPECT_FALSE(check(LeaseRequest{.from = DestinationNo(1), .max = 1, .lease = {}, .holder = {}}));
}

void unknown_deliveries_are_reported_as_unknown(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  for (const DeliveryRef& missing :
       {DeliveryRef{event, DeliveryNo(2)}, DeliveryRef{event, DeliveryNo(0)},
        DeliveryRef{event, DeliveryNo(kMaxDeliveryNo)}, DeliveryRef{EventNo(1), DeliveryNo(1)},
        DeliveryRef{kNewest, DeliveryNo(1)}}) {
    EXPECT_EQ(steps.settle(missing, lease.fence, Ack{}), Settled::unknown);
    EXPECT_EQ(steps.settle(missing, Fence(0), Renew{seconds(1)}), Settled::unknown);
    EXPECT_EQ(steps.cancel(missing.event, missing.delivery.value()), Cancelled::absent);
  }
  steps.ack(lease);
}

void future_and_guessed_fences_are_stale(InboxSteps& steps) {
  const EventNo event = steps.fresh({});
  const Leased lease = steps.lease_one();
  const std::int64_t fence = lease.fence.value();
  for (const std::int64_t other :
       {fence - 1, fence + 1, std::int64_t{0}, std::int64_t{-1},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(steps.settle(ref(lease), Fence(other), Ack{}), Settled::stale) << other;
  }
  EXPECT_EQ(steps.settle(lease, RetryIn{hours(1)}), Settled::ok);
  for (std::int64_t guess = fence + 1; guess < fence + 50; ++guess) {
    EXPECT_EQ(steps.settle(ref(lease), Fence(guess), Ack{}), Settled::stale)
        << "without a lease no fence can settle the delivery";
  }
  EXPECT_EQ(steps.state(event), DeliveryState::pending);
}

void a_wall_clock_jump_neither_expires_nor_extends_leases(InboxSteps& steps) {
  steps.fresh({.id = "a", .remember = hours(2)});
  steps.fresh({.id = "b", .remember = hours(2)});
  const Leased kept = steps.lease_one("dst", {.lease = minutes(30)});
  EXPECT_EQ(steps.settle(steps.lease_one(), RetryIn{minutes(30)}), Settled::ok);
  steps.subject().jump_wall(hours(1));
  EXPECT_TRUE(steps.nothing_due()) << "a jump of an hour forward expires nothing";
  steps.subject().jump_wall(-hours(2));
  EXPECT_TRUE(steps.nothing_due());
  EXPECT_EQ(steps.admit({.id = "a"}).kind, Admission::Kind::duplicate);
  steps.advance(minutes(30));
  EXPECT_EQ(ids(steps.leased("dst", {.max = 10})), "a b") << "a jump backwards extends nothing";
  EXPECT_EQ(steps.settle(kept, Ack{}), Settled::stale);
  steps.advance(hours(1));
  for (const Leased& each : steps.leased("dst", {.max = 10})) steps.ack(each);
  steps.advance(minutes(30));
  steps.fresh({.id = "a"});
}

void empty_calls_give_no_answers(InboxSteps& steps) {
  const Answers answers = steps.next().queue->write({});
  EXPECT_TRUE(answers.settle && answers.settle->empty());
  EXPECT_TRUE(answers.admit.empty());
  EXPECT_TRUE(answers.lease && answers.lease->empty());
  EXPECT_TRUE(steps.next().catalog->find({})->empty());
  EXPECT_TRUE(steps.next().queue->note_duplicates({}));
  EXPECT_TRUE(steps.next().rejects->add_rejects({}));
  EXPECT_EQ(steps.next().queue->move_messages({})->messages, 0U);
  EXPECT_TRUE(steps.next().queue->sweep({.periods = {}, .limit = 1}));
}

constexpr InboxCase kBadInputCases[] = {
    {"ABodyOfAnySizeIsStoredByteForByte", a_body_of_any_size_is_stored_byte_for_byte},
    {"HeadersWithRepeatedNamesAndAnyBytesKeepTheirOrder",
     headers_with_repeated_names_and_any_bytes_keep_their_order},
    {"IdsTenantsAndTypesMayBeAnyBytes", ids_tenants_and_types_may_be_any_bytes},
    {"LaneKeysMayBeAnyBytesAndStaySeparate", lane_keys_may_be_any_bytes_and_stay_separate},
    {"ValuesOfMaximumLengthAreAccepted", values_of_maximum_length_are_accepted},
    {"OversizedEventsAreRejectedAndClaimNothing", oversized_events_are_rejected_and_claim_nothing},
    {"InvalidWorkerResultsAreRejected", invalid_worker_results_are_rejected, false},
    {"UnknownDeliveriesAreReportedAsUnknown", unknown_deliveries_are_reported_as_unknown},
    {"FutureAndGuessedFencesAreStale", future_and_guessed_fences_are_stale},
    {"AWallClockJumpNeitherExpiresNorExtendsLeases",
     a_wall_clock_jump_neither_expires_nor_extends_leases},
    {"EmptyCallsGiveNoAnswers", empty_calls_give_no_answers},
};

}  // namespace

std::span<const InboxCase> bad_input_cases() {
  return kBadInputCases;
}

}  // namespace hapax::test
