// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Reading: lists, counts, names, nodes and recorded duplicates.
#include "compliance/inbox_suite.hpp"

namespace hapax::test {

namespace {

std::string ids_of(const std::vector<EventRow>& events) {
  std::string text;
  for (const EventRow& each : events) text += (text.empty() ? "" : " ") + each.id;
  return text;
}

Token owner(unsigned char number) {
  Token token;
  token.bytes.fill(number);
  return token;
}

void an_event_is_read_as_it_was_stored(InboxSteps& steps) {
  const Incoming arrival{.id = "a",
                         .tenant = "t",
                         .body = "bytes",
                         .order_key = "k",
                         .version = 42,
                         .type = "paid",
                         .headers = "headers"};
  const EventNo event = steps.fresh(arrival);
  const EventDetail detail = steps.detail(event);
  EXPECT_EQ(detail.row.no, event);
  EXPECT_EQ(detail.row.source, steps.source("src"));
  EXPECT_EQ(detail.row.tenant, "t");
  EXPECT_EQ(detail.row.id, "a");
  EXPECT_EQ(detail.row.type, "paid");
  EXPECT_EQ(detail.row.order_key, "k");
  EXPECT_EQ(detail.row.version, 42);
  EXPECT_EQ(detail.row.digest, sha256("bytes"));
  EXPECT_EQ(detail.row.body_size, 5U);
  EXPECT_EQ(detail.row.would, Would::none);
  EXPECT_EQ(detail.row.duplicates, 0U);
  EXPECT_EQ(detail.headers, "headers");
  EXPECT_EQ(*steps.next().catalog->body(event, BodyOf::event)->value, "bytes");
  steps.advance(seconds(1));
  const EventNo later = steps.fresh({.id = "b"});
  EXPECT_EQ(steps.detail(later).row.received - detail.row.received, seconds(1));
}

void the_status_of_an_event_is_the_worst_of_its_deliveries(InboxSteps& steps) {
  const EventNo event = steps.fresh({.to = {"1", "2", "3", "4"}});
  const auto status = [&] { return steps.detail(event).row.status; };
  EXPECT_EQ(status(), DeliveryState::pending);
  const Leased lease = steps.lease_one("1");
  EXPECT_EQ(status(), DeliveryState::leased);
  steps.kill(steps.lease_one("2"));
  EXPECT_EQ(status(), DeliveryState::dead);
  EXPECT_EQ(steps.cancel(event, 2), Cancelled::done);
  EXPECT_EQ(status(), DeliveryState::leased);
  steps.ack(lease);
  EXPECT_EQ(status(), DeliveryState::pending);
  steps.deliver("3");
  steps.deliver("4");
  EXPECT_EQ(status(), DeliveryState::cancelled);
  EXPECT_EQ(steps.replay({.event = event}).status, Replayed::Status::done);
  steps.deliver("2");
  EXPECT_EQ(status(), DeliveryState::completed);
}

void events_are_listed_newest_first_page_by_page(InboxSteps& steps) {
  steps.fresh_many(7, {});
  EXPECT_EQ(ids_of(steps.list({}, 3)), "6 5 4 3 2 1 0");
  EXPECT_EQ(ids_of(steps.list({}, 7)), "6 5 4 3 2 1 0");
  EXPECT_EQ(ids_of(steps.list({}, 1)), "6 5 4 3 2 1 0");
  EXPECT_TRUE(steps.list({.id = "none"}, 3).empty());
}

void a_list_matches_all_parts_of_the_filter(InboxSteps& steps) {
  steps.fresh({.id = "1", .source = "x", .tenant = "t", .order_key = "k", .type = "paid"});
  steps.advance(seconds(10));
  const EventNo second = steps.fresh({.id = "2", .source = "x", .order_key = "l", .type = "paid"});
  steps.advance(seconds(10));
  steps.fresh({.id = "3", .source = "y", .tenant = "t", .type = "void", .headers = "h"});
  const WallTime middle = steps.detail(second).row.received;
  EXPECT_EQ(ids_of(steps.list({.source = steps.source("x")})), "2 1");
  EXPECT_EQ(ids_of(steps.list({.tenant = "t"})), "3 1");
  EXPECT_EQ(ids_of(steps.list({.tenant = ""})), "2");
  EXPECT_EQ(ids_of(steps.list({.id = "2"})), "2");
  EXPECT_EQ(ids_of(steps.list({.type = "paid"})), "2 1");
  EXPECT_EQ(ids_of(steps.list({.order_key = "k"})), "1");
  EXPECT_EQ(ids_of(steps.list({.since = middle})), "3 2");
  EXPECT_EQ(ids_of(steps.list({.until = middle})), "1");
  EXPECT_EQ(ids_of(steps.list({.tenant = "t", .type = "paid"})), "1");
  EXPECT_EQ(ids_of(steps.list({.source = steps.source("y"), .type = "paid"})), "");
}

void a_list_can_be_filtered_by_status(InboxSteps& steps) {
  steps.fresh_many(4, {});
  steps.deliver();
  steps.kill(steps.lease_one());
  steps.lease_one();
  EXPECT_EQ(ids_of(steps.list({.status = DeliveryState::completed}, 1)), "0");
  EXPECT_EQ(ids_of(steps.list({.status = DeliveryState::dead}, 1)), "1");
  EXPECT_EQ(ids_of(steps.list({.status = DeliveryState::leased}, 1)), "2");
  EXPECT_EQ(ids_of(steps.list({.status = DeliveryState::pending}, 1)), "3");
  steps.advance(seconds(30));
  EXPECT_EQ(ids_of(steps.list({.status = DeliveryState::pending}, 1)), "3 2");
}

void find_returns_the_current_claim(InboxSteps& steps) {
  const EventNo event = steps.fresh({.id = "a", .tenant = "t", .remember = hours(1)});
  const SourceNo source = steps.source("src");
  const std::vector<WantedIdentity> wanted{
      {source, "t", "a"}, {source, "", "a"}, {source, "t", "b"}, {SourceNo(99), "t", "a"}};
  const std::vector<std::optional<EventNo>> expected{event, {}, {}, {}};
  EXPECT_EQ(*steps.next().catalog->find(wanted), expected);
  steps.deliver();
  steps.advance(hours(1));
  EXPECT_FALSE(steps.next().catalog->find(wanted)->at(0));
}

void counts_are_by_destination_and_state(InboxSteps& steps) {
  EXPECT_TRUE(steps.next().catalog->stats()->destinations.empty());
  steps.fresh_many(5, {.to = {"one", "two"}});
  const WallTime start = steps.list({}).front().received;
  steps.deliver("one");
  steps.kill(steps.lease_one("one"));
  steps.lease_one("one");
  EXPECT_EQ(steps.settle(steps.lease_one("one"), RetryIn{hours(1)}), Settled::ok);
  EXPECT_EQ(steps.settle(steps.lease_one("one"), Drop{}), Settled::ok);
  const Result<Stats> stats = steps.next().catalog->stats();
  ASSERT_TRUE(stats) << stats.error().to_string();
  ASSERT_EQ(stats->destinations.size(), 2U);
  const DestinationStats& one = stats->destinations[0];
  EXPECT_EQ(one.destination, steps.destination("one"));
  EXPECT_EQ(one.pending, 1U);
  EXPECT_EQ(one.leased, 1U);
  EXPECT_EQ(one.dead, 1U);
  EXPECT_EQ(one.cancelled, 1U);
  EXPECT_EQ(one.superseded, 0U);
  EXPECT_EQ(one.oldest_due, start + seconds(30)) << "the end of the lease";
  EXPECT_EQ(stats->destinations[1].pending, 5U);
  EXPECT_EQ(stats->destinations[1].oldest_due, start);
  ASSERT_EQ(stats->sources.size(), 1U);
  EXPECT_EQ(stats->sources[0].source, steps.source("src"));
}

void a_source_was_last_seen_when_an_event_was_stored(InboxSteps& steps) {
  const EventNo first = steps.fresh({.id = "a"});
  steps.advance(hours(1));
  steps.fresh({.id = "b"});
  const WallTime seen = steps.next().catalog->stats()->sources.at(0).last_seen;
  EXPECT_LE(seen - steps.detail(first).row.received, hours(1));
  EXPECT_GE(seen - steps.detail(first).row.received, hours(1) - kSeenSlack);
}

void names_keep_their_numbers(InboxSteps& steps) {
  std::map<std::string, std::int64_t> numbers;
  for (int round = 0; round < 2; ++round) {
    for (const char* each : {"one", "two", "One", "one."}) {
      const auto number = steps.next().catalog->number_of(NameKind::source, each);
      ASSERT_TRUE(number) << number.error().to_string();
      EXPECT_GT(*number, 0);
      const auto [known, fresh] = numbers.emplace(each, *number);
      EXPECT_EQ(known->second, *number);
      EXPECT_EQ(fresh, round == 0);
    }
  }
  const auto known = steps.next().catalog->names(NameKind::source);
  ASSERT_TRUE(known) << known.error().to_string();
  EXPECT_EQ(known->size(), 4U);
  for (const KnownName& each : *known) EXPECT_EQ(numbers.at(each.name), each.number);
  EXPECT_TRUE(steps.next().catalog->names(NameKind::destination)->empty()) << "another kind";
}

void concurrent_lookups_of_a_name_get_the_same_number(InboxSteps& steps) {
  std::vector<std::int64_t> numbers(16);
  all_at_once(16, [&](int thread) {
    numbers[static_cast<std::size_t>(thread)] =
        steps.same().catalog->number_of(NameKind::destination, "d").value_or(-1);
  });
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), numbers[0]), 16);
  EXPECT_GT(numbers[0], 0);
}

void a_node_number_has_one_owner_during_its_lease(InboxSteps& steps) {
  const NodeNo first = *steps.next().node->take_node(owner(1), seconds(10));
  EXPECT_NE(*steps.next().node->take_node(owner(2), seconds(20)), first);
  steps.advance(seconds(9));
  EXPECT_EQ(*steps.next().node->take_node(owner(1), seconds(10)), first) << "extended";
  steps.advance(seconds(9));
  EXPECT_NE(*steps.next().node->take_node(owner(3), seconds(10)), first);
  EXPECT_EQ(*steps.next().node->take_node(owner(1), seconds(10)), first);
}

void node_numbers_are_reused_when_all_were_used(InboxSteps& steps) {
  const NodeNo first = *steps.next().node->take_node(owner(1), seconds(10));
  ASSERT_TRUE(steps.next().node->leave_node(owner(1)));
  ASSERT_TRUE(steps.next().node->leave_node(owner(9))) << "an unknown owner: no effect";
  Token token = owner(2);
  for (std::int64_t i = 0; i < kMaxNode; ++i) {
    token.bytes[0] = static_cast<unsigned char>(i);
    token.bytes[1] = static_cast<unsigned char>(i >> 8);
    const auto number = steps.same().node->take_node(token, hours(1));
    ASSERT_TRUE(number) << number.error().to_string();
    EXPECT_NE(*number, first) << "unused numbers are taken first";
  }
  EXPECT_EQ(*steps.next().node->take_node(owner(3), hours(1)), first);
  const auto full = steps.next().node->take_node(owner(4), hours(1));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::store_full);
}

void the_secret_of_a_store_stays_the_same(InboxSteps& steps) {
  StoreSecret mine{};
  mine.fill(1);
  StoreSecret other{};
  other.fill(2);
  EXPECT_EQ(*steps.next().node->secret(mine), mine);
  EXPECT_EQ(*steps.next().node->secret(other), mine);
}

void duplicates_and_changed_bodies_are_recorded(InboxSteps& steps) {
  const EventNo event = steps.fresh({.body = "first"});
  const WallTime at{seconds(1'700'000'000)};
  const auto changed = [&](std::string_view body, int after) {
    return DuplicateNote::Changed{sha256(body), at + seconds(after), body};
  };
  EXPECT_EQ(steps.next().catalog->body(event, BodyOf::last_variant)->presence, Presence::absent);
  const DuplicateNote notes[]{{event, 3, {}},
                              {event, 1, changed("second", 1)},
                              {event, 2, changed("second", 2)},
                              {event, 1, changed("first", 3)},
                              {event, 0, changed("third", 4)},
                              {EventNo(4), 9, changed("orphan", 5)}};
  ASSERT_TRUE(steps.next().queue->note_duplicates(notes));
  const EventDetail detail = steps.detail(event);
  EXPECT_EQ(detail.row.duplicates, 7U);
  ASSERT_EQ(detail.variants.size(), 2U);
  EXPECT_EQ(detail.variants[0].digest, sha256("second"));
  EXPECT_EQ(detail.variants[0].at, at + seconds(1));
  EXPECT_EQ(detail.variants[1].digest, sha256("third"));
  EXPECT_EQ(*steps.next().catalog->body(event, BodyOf::last_variant)->value, "third");
  EXPECT_EQ(*steps.next().catalog->body(event, BodyOf::event)->value, "first");
}

void at_most_sixteen_changed_bodies_are_kept(InboxSteps& steps) {
  const EventNo event = steps.fresh({.body = "first"});
  for (int i = 0; i < 20; ++i) {
    const std::string body = std::to_string(i);
    const DuplicateNote note{event, 1, DuplicateNote::Changed{sha256(body), {}, body}};
    ASSERT_TRUE(steps.next().queue->note_duplicates(std::span(&note, 1)));
  }
  EXPECT_EQ(steps.detail(event).variants.size(), kMaxVariants);
  EXPECT_EQ(steps.detail(event).row.duplicates, 20U);
  EXPECT_EQ(*steps.next().catalog->body(event, BodyOf::last_variant)->value, "15");
}

constexpr InboxCase kReadingCases[] = {
    {"AnEventIsReadAsItWasStored", an_event_is_read_as_it_was_stored},
    {"TheStatusOfAnEventIsTheWorstOfItsDeliveries",
     the_status_of_an_event_is_the_worst_of_its_deliveries},
    {"EventsAreListedNewestFirstPageByPage", events_are_listed_newest_first_page_by_page},
    {"AListMatchesAllPartsOfTheFilter", a_list_matches_all_parts_of_the_filter},
    {"AListCanBeFilteredByStatus", a_list_can_be_filtered_by_status},
    {"FindReturnsTheCurrentClaim", find_returns_the_current_claim},
    {"CountsAreByDestinationAndState", counts_are_by_destination_and_state},
    {"ASourceWasLastSeenWhenAnEventWasStored", a_source_was_last_seen_when_an_event_was_stored},
    {"NamesKeepTheirNumbers", names_keep_their_numbers},
    {"ConcurrentLookupsOfANameGetTheSameNumber", concurrent_lookups_of_a_name_get_the_same_number,
     false},
    {"ANodeNumberHasOneOwnerDuringItsLease", a_node_number_has_one_owner_during_its_lease},
    {"NodeNumbersAreReusedWhenAllWereUsed", node_numbers_are_reused_when_all_were_used},
    {"TheSecretOfAStoreStaysTheSame", the_secret_of_a_store_stays_the_same},
    {"DuplicatesAndChangedBodiesAreRecorded", duplicates_and_changed_bodies_are_recorded},
    {"AtMostSixteenChangedBodiesAreKept", at_most_sixteen_changed_bodies_are_kept},
};

}  // namespace

std::span<const InboxCase> reading_cases() {
  return kReadingCases;
}

}  // namespace hapax::test
