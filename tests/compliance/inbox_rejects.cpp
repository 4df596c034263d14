// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"

#include <algorithm>

// Rejects: a bounded ring buffer per source.
namespace hapax::test {

namespace {

// Returns all matching rejects, read in small pages.
std::vector<std::int64_t> numbers(InboxSteps& steps, RejectQuery query) {
  std::vector<std::int64_t> numbers;
  query.limit = std::min<std::size_t>(query.limit, 50);
  for (;;) {
    const Result<RejectPage> page = steps.next().rejects->rejects(query);
    EXPECT_TRUE(page) << page.error().to_string();
    if (!page) return numbers;
    for (const RejectRow& each : page->rejects) numbers.push_back(each.no.value());
    if (!page->next) return numbers;
    (query.oldest_first ? query.after : query.before) = *page->next;
  }
}

std::vector<std::int64_t> oldest_first(InboxSteps& steps, const std::string& source) {
  return numbers(steps, {.filter = {.source = steps.source(source)}, .oldest_first = true});
}

// `count` rejects of 100 bytes from `address`, numbered from `first`.
std::vector<Reject> from(SourceNo source, std::string_view address, std::int64_t first, int count) {
  static const std::string body(93, 'b');
  std::vector<Reject> rejects;
  for (int i = 0; i < count; ++i) {
    rejects.push_back(
        {.no = RejectNo(first + i), .source = source, .body = body, .address = address});
  }
  return rejects;
}

std::size_t add(InboxSteps& steps, const std::vector<Reject>& rejects, const RejectRing& ring) {
  const Result<std::size_t> evicted =
      steps.next().rejects->add_rejects({.rejects = rejects, .ring = ring});
  EXPECT_TRUE(evicted) << evicted.error().to_string();
  return evicted.value_or(0);
}

RejectCounts counts_of(InboxSteps& steps, const std::string& source) {
  const auto counts = steps.next().rejects->reject_counts();
  EXPECT_TRUE(counts) << counts.error().to_string();
  for (const RejectCounts& each : *counts) {
    if (each.source == steps.source(source)) return each;
  }
  return {};
}

void a_reject_is_kept_as_received_and_can_be_removed(InboxSteps& steps) {
  const std::string body("\0\xff", 2);
  const Reject reject{.no = RejectNo(5),
                      .source = steps.source("src"),
                      .tenant = "t",
                      .reason = "signature-invalid",
                      .detail = "no secret matches",
                      .received = WallTime(seconds(1'700'000'000)),
                      .method = "POST",
                      .url = "/in/src?x=1",
                      .headers = "headers",
                      .proof = "proof",
                      .body = body,
                      .address = "192.0.2.1"};
  const RejectBatch batch{.rejects = std::span(&reject, 1)};
  ASSERT_TRUE(steps.next().rejects->add_rejects(batch));
  ASSERT_TRUE(steps.next().rejects->add_rejects(batch)) << "a repeat has no effect";
  const auto found = steps.next().rejects->reject(RejectNo(5));
  ASSERT_TRUE(found && *found);
  const StoredReject& stored = **found;
  EXPECT_EQ(stored.row.source, reject.source);
  EXPECT_EQ(stored.row.tenant, "t");
  EXPECT_EQ(stored.row.reason, "signature-invalid");
  EXPECT_EQ(stored.row.detail, "no secret matches");
  EXPECT_EQ(stored.row.received, reject.received);
  EXPECT_EQ(stored.row.body_size, 2U);
  EXPECT_EQ(stored.row.address, "192.0.2.1");
  EXPECT_EQ(stored.method, "POST");
  EXPECT_EQ(stored.url, reject.url);
  EXPECT_EQ(stored.headers, "headers");
  EXPECT_EQ(stored.proof, "proof");
  EXPECT_EQ(stored.body, body);
  EXPECT_EQ(steps.next().rejects->rejects({.limit = 10})->rejects.size(), 1U);
  EXPECT_TRUE(*steps.next().rejects->remove_reject(RejectNo(5)));
  EXPECT_FALSE(*steps.next().rejects->remove_reject(RejectNo(5)));
  EXPECT_FALSE(*steps.next().rejects->reject(RejectNo(5)));
}

void rejects_are_a_ring_buffer_per_source(InboxSteps& steps) {
  const RejectRing ring{.rejects = 20};
  add(steps, from(steps.source("y"), "a", 1000, 1), ring);
  // With five alternating addresses none holds more than a quarter.
  for (int i = 0; i < 30; ++i) {
    const std::string address = std::to_string(i % 5);
    EXPECT_EQ(add(steps, from(steps.source("x"), address, 1 + i, 1), ring), i < 20 ? 0U : 1U);
  }
  std::vector<std::int64_t> newest;
  for (std::int64_t i = 11; i <= 30; ++i) newest.push_back(i);
  EXPECT_EQ(oldest_first(steps, "x"), newest);
  std::reverse(newest.begin(), newest.end());
  EXPECT_EQ(numbers(steps, {.filter = {.source = steps.source("x")}}), newest);
  EXPECT_TRUE(*steps.next().rejects->reject(RejectNo(1000)))
      << "a flood of one source does not affect others";
  EXPECT_EQ(counts_of(steps, "x").evicted, 10U);
  EXPECT_EQ(counts_of(steps, "x").kept, 20U);
  EXPECT_EQ(counts_of(steps, "y").evicted, 0U);
}

void an_address_with_more_than_a_quarter_is_evicted_first(InboxSteps& steps) {
  const RejectRing ring{.rejects = 20};
  const SourceNo source = steps.source("x");
  add(steps, from(source, "quiet", 1, 5), ring);
  add(steps, from(source, "loud", 101, 12), ring);
  EXPECT_EQ(add(steps, from(source, "loud", 201, 100), ring), 97U);
  EXPECT_EQ(add(steps, from(source, "other", 401, 10), ring), 10U);
  // The quiet address keeps all its rejects, though they are the oldest.
  std::vector<std::int64_t> kept{1, 2, 3, 4, 5, 296, 297, 298, 299, 300};
  for (std::int64_t i = 401; i <= 410; ++i) kept.push_back(i);
  EXPECT_EQ(oldest_first(steps, "x"), kept);
  EXPECT_EQ(counts_of(steps, "x").evicted, 107U);
}

void the_largest_address_is_evicted_first_then_the_oldest_reject(InboxSteps& steps) {
  const RejectRing ring{.rejects = 8};
  const SourceNo source = steps.source("x");
  std::vector<Reject> batch = from(source, "a", 1, 3);
  for (const auto& more : {from(source, "b", 11, 5), from(source, "c", 21, 2)}) {
    batch.insert(batch.end(), more.begin(), more.end());
  }
  EXPECT_EQ(add(steps, batch, ring), 2U);
  EXPECT_EQ(oldest_first(steps, "x"), (std::vector<std::int64_t>{1, 2, 3, 13, 14, 15, 21, 22}));
  EXPECT_EQ(add(steps, from(source, "d", 31, 2), ring),
            2U);  // from a and b, which leaves b and c equal
  EXPECT_EQ(oldest_first(steps, "x"), (std::vector<std::int64_t>{2, 3, 14, 15, 21, 22, 31, 32}));
  EXPECT_EQ(add(steps, from(source, "e", 41, 1), ring), 1U);  // no address has more than a quarter
  EXPECT_EQ(oldest_first(steps, "x"), (std::vector<std::int64_t>{3, 14, 15, 21, 22, 31, 32, 41}));
}

void the_ring_buffer_is_also_bounded_in_bytes(InboxSteps& steps) {
  const SourceNo source = steps.source("x");
  const RejectRing ring{.rejects = 100, .bytes = 1000};
  add(steps, from(source, "quiet..", 1, 2), ring);  // 100 bytes each
  EXPECT_EQ(add(steps, from(source, "loud...", 11, 20), ring), 12U);
  EXPECT_EQ(oldest_first(steps, "x"),
            (std::vector<std::int64_t>{1, 2, 23, 24, 25, 26, 27, 28, 29, 30}));
  EXPECT_EQ(counts_of(steps, "x").bytes, 1000U);
  const std::string large(2000, 'b');
  const std::vector<Reject> one{{.no = RejectNo(50), .source = source, .body = large}};
  EXPECT_EQ(add(steps, one, ring), 1U) << "a reject larger than the ring evicts no others";
  EXPECT_EQ(counts_of(steps, "x").kept, 10U);
  EXPECT_EQ(counts_of(steps, "x").evicted, 13U);
}

void dropped_requests_are_counted(InboxSteps& steps) {
  const DroppedRejects first[] = {{steps.source("x"), 3}, {steps.source("y"), 1}};
  const DroppedRejects second[] = {{steps.source("x"), 4}};
  ASSERT_TRUE(steps.next().rejects->add_rejects({.dropped = first}));
  ASSERT_TRUE(steps.next().rejects->add_rejects({.dropped = second}));
  EXPECT_EQ(counts_of(steps, "x").dropped, 7U);
  EXPECT_EQ(counts_of(steps, "y").dropped, 1U);
  EXPECT_EQ(counts_of(steps, "x").kept, 0U);
}

void rejects_are_listed_by_filter(InboxSteps& steps) {
  std::vector<Reject> batch;
  for (std::int64_t i = 1; i <= 6; ++i) {
    batch.push_back({.no = RejectNo(i),
                     .source = steps.source(i % 2 == 1 ? "x" : "y"),
                     .reason = i <= 3 ? "id-missing" : "signature-invalid",
                     .received = WallTime(seconds(100 + i))});
  }
  add(steps, batch, {});
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers(steps, {}), (Numbers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(numbers(steps, {.limit = 1}), (Numbers{6, 5, 4, 3, 2, 1})) << "page by page";
  EXPECT_EQ(numbers(steps, {.oldest_first = true, .limit = 2}), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(numbers(steps, {.filter = {.reason = "id-missing"}}), (Numbers{3, 2, 1}));
  EXPECT_EQ(numbers(steps, {.filter = {.source = steps.source("y"), .reason = "id-missing"}}),
            (Numbers{2}));
  EXPECT_EQ(numbers(steps,
                    {.filter = {.since = WallTime(seconds(102)), .until = WallTime(seconds(105))}}),
            (Numbers{4, 3, 2}));
  EXPECT_EQ(numbers(steps, {.after = RejectNo(2), .before = RejectNo(5)}), (Numbers{4, 3}));
  EXPECT_EQ(numbers(steps, {.filter = {.reason = "id-missin"}}), Numbers{});
}

void many_rejects_are_removed_in_one_call(InboxSteps& steps) {
  add(steps, from(steps.source("x"), "a", 1, 5), {});
  const RejectNo gone[] = {RejectNo(4), RejectNo(2), RejectNo(99)};
  ASSERT_TRUE(steps.next().rejects->remove_rejects(gone));
  ASSERT_TRUE(steps.next().rejects->remove_rejects(gone)) << "a repeat has no effect";
  ASSERT_TRUE(steps.next().rejects->remove_rejects({}));
  EXPECT_EQ(oldest_first(steps, "x"), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_EQ(counts_of(steps, "x").evicted, 0U) << "removals are not evictions";
}

constexpr InboxCase kRejectsCases[] = {
    {"ARejectIsKeptAsReceivedAndCanBeRemoved", a_reject_is_kept_as_received_and_can_be_removed},
    {"RejectsAreARingBufferPerSource", rejects_are_a_ring_buffer_per_source},
    {"AnAddressWithMoreThanAQuarterIsEvictedFirst",
     an_address_with_more_than_a_quarter_is_evicted_first},
    {"TheLargestAddressIsEvictedFirstThenTheOldestReject",
     the_largest_address_is_evicted_first_then_the_oldest_reject},
    {"TheRingBufferIsAlsoBoundedInBytes", the_ring_buffer_is_also_bounded_in_bytes},
    {"DroppedRequestsAreCounted", dropped_requests_are_counted},
    {"RejectsAreListedByFilter", rejects_are_listed_by_filter},
    {"ManyRejectsAreRemovedInOneCall", many_rejects_are_removed_in_one_call},
};

}  // namespace

std::span<const InboxCase> reject_cases() {
  return kRejectsCases;
}

}  // namespace hapax::test
