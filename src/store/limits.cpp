// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/limits.hpp"

#include "base/try.hpp"
#include "store/catalog.hpp"
#include "store/node.hpp"
#include "store/queue.hpp"
#include "store/rejects.hpp"

#include <algorithm>

namespace hapax::store {

namespace {

using std::chrono::milliseconds;

Error refused(std::string detail) {
  return Error(Code::invalid_argument, std::move(detail));
}

Result<void> check_most(std::string_view what, std::size_t has, std::size_t most) {
  if (has <= most) return {};
  return refused(std::string(what) + " has " + std::to_string(most) +
                 " bytes at most; this one has " + std::to_string(has));
}

Result<void> check_count(std::string_view what, std::size_t count, std::size_t most) {
  if (count >= 1 && count <= most) return {};
  return refused(std::string(what) + " takes 1 to " + std::to_string(most) + "; this is " +
                 std::to_string(count));
}

Result<void> check_period(std::string_view what, milliseconds period, milliseconds least) {
  if (period >= least && period <= kMaxTtl) return {};
  return refused(std::string(what) + " must be " + std::to_string(least.count()) +
                 " ms to 36500 days; this one has " + std::to_string(period.count()) + " ms");
}

template <class No>
Result<void> check_number(std::string_view what, No number) {
  if (number.value() > 0) return {};
  return refused(std::string(what) + " is above 0; this is " + std::to_string(number.value()));
}

Result<void> check_interned(std::string_view what, std::int64_t number) {
  if (number > 0 && number <= std::numeric_limits<std::int32_t>::max()) return {};
  return refused(std::string(what) + " is a number assigned by the store; this is " +
                 std::to_string(number));
}

Result<void> check_targets(std::span<const Target> targets) {
  if (targets.size() > kMaxTargets) {
    return refused("an event has at most " + std::to_string(kMaxTargets) + " destinations");
  }
  std::vector<std::int64_t> seen;
  for (const Target& each : targets) {
    HAPAX_TRY(check_interned("a destination", each.to.value()));
    seen.push_back(each.to.value());
  }
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) == seen.end()) return {};
  return refused("a destination is named twice for one event");
}

Result<void> check_identity(const Arrival& arrival) {
  HAPAX_TRY(check_number("an event number", arrival.no));
  HAPAX_TRY(check_interned("a source", arrival.source.value()));
  HAPAX_TRY(check_most("a tenant", arrival.tenant.size(), kMaxTenant));
  HAPAX_TRY(check_most("an event id", arrival.key.size(), kMaxIdentityKey));
  HAPAX_TRY(check_most("an event id", arrival.id.size(), kMaxEventId));
  HAPAX_TRY(check_most("an event type", arrival.type.size(), kMaxType));
  return check_most("an order key", arrival.order_key.size(), kMaxOrderKey);
}

Result<void> check_arrival(const Arrival& arrival) {
  HAPAX_TRY(check_identity(arrival));
  HAPAX_TRY(check_most("the headers of an event", arrival.headers.size(), kMaxStoredHeaders));
  HAPAX_TRY(check_most("a body", arrival.body.size(), kMaxBody));
  HAPAX_TRY(check_period("remember", arrival.remember, milliseconds(1)));
  return check_targets(arrival.targets);
}

struct DispositionCheck {
  Result<void> operator()(const Ack&) const { return {}; }
  Result<void> operator()(const Drop&) const { return {}; }
  Result<void> operator()(const Release&) const { return {}; }
  Result<void> operator()(const RetryIn& retry) const {
    return check_period("a retry's delay", retry.delay, milliseconds(0));
  }
  Result<void> operator()(const Renew& renew) const {
    return check_period("a lease", renew.lease, milliseconds(1));
  }
  Result<void> operator()(const Dead& dead) const {
    const bool known = dead.reason == EndReason::exhausted || dead.reason == EndReason::gone ||
                       dead.reason == EndReason::horizon;
    return known ? Result<void>() : refused("a delivery dies exhausted, gone or by its horizon");
  }
};

}  // namespace

Result<void> check(const Admit& admit) {
  HAPAX_TRY(check_count("a request with events", admit.arrivals.size(), kMaxArrivals));
  for (const Arrival& each : admit.arrivals) HAPAX_TRY(check_arrival(each));
  if (admit.arrivals.size() == 1) return {};
  std::vector<EventNo> numbers;
  numbers.reserve(admit.arrivals.size());
  for (const Arrival& each : admit.arrivals) numbers.push_back(each.no);
  std::sort(numbers.begin(), numbers.end());
  if (std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end()) return {};
  return refused("two events of one request have the same number");
}

Result<void> check(const Settlement& settlement) {
  HAPAX_TRY(check_most("an attempt's error", settlement.note.error.size(), kMaxAttemptError));
  HAPAX_TRY(check_most("an attempt's excerpt", settlement.note.excerpt.size(), kMaxExcerpt));
  return std::visit(DispositionCheck{}, settlement.disposition);
}

Result<void> check(const LeaseRequest& request) {
  HAPAX_TRY(check_interned("a destination", request.from.value()));
  HAPAX_TRY(check_count("a lease of deliveries", request.max, kMaxLeaseCount));
  HAPAX_TRY(check_period("a lease", request.lease, milliseconds(1)));
  return check_period("a horizon", request.horizon, milliseconds(0));
}

Result<void> check(const EventQuery& query) {
  return check_count("a page", query.limit, kMaxPage);
}

Result<void> check(const ReplayStep& step) {
  return check_count("a step", step.limit, kMaxStep);
}

Result<void> check(const SweepStep& step) {
  for (const Periods& each : step.periods) {
    HAPAX_TRY(check_period("keep", each.keep, milliseconds(0)));
    HAPAX_TRY(check_period("keep_dead", each.keep_dead, milliseconds(0)));
  }
  return check_count("a step", step.limit, kMaxStep);
}

Result<void> check(const DuplicateNote& note) {
  return check_most("a body", note.changed ? note.changed->body.size() : 0, kMaxBody);
}

Result<void> check(const Reject& reject) {
  HAPAX_TRY(check_number("a reject's number", reject.no));
  HAPAX_TRY(check_interned("a source", reject.source.value()));
  HAPAX_TRY(check_most("a tenant", reject.tenant.size(), kMaxTenant));
  for (const std::string_view text :
       {reject.reason, reject.detail, reject.method, reject.proof, reject.address}) {
    HAPAX_TRY(check_most("a reject's reason, detail, method, proof or address", text.size(),
                         kMaxRejectText));
  }
  HAPAX_TRY(check_most("a URL", reject.url.size(), kMaxUrl));
  HAPAX_TRY(check_most("the headers of a reject", reject.headers.size(), kMaxStoredHeaders));
  return check_most("a body", reject.body.size(), kMaxBody);
}

Result<void> check(const RejectQuery& query) {
  return check_count("a page", query.limit, kMaxPage);
}

Result<void> check(const Record& record) {
  HAPAX_TRY(check_name(record.name));
  if (record.version <= 0) return refused("the version of a record is above 0");
  return check_most("a record", record.content.size(), kMaxRecord);
}

Error no_room_for_records() {
  return Error(Code::store_full, "the store is limited to " + std::to_string(kMaxRecords) +
                                     " records; end replays or listeners");
}

Result<void> check_name(std::string_view name) {
  HAPAX_TRY(check_length("a name", name, kMaxName));
  const bool visible =
      std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  return visible ? Result<void>() : refused("a name is made of visible ASCII characters");
}

Result<void> check_length(std::string_view what, std::string_view bytes, std::size_t most) {
  if (!bytes.empty() && bytes.size() <= most) return {};
  return Error(Code::invalid_argument, std::string(what) + " has 1 to " + std::to_string(most) +
                                           " bytes; this one has " + std::to_string(bytes.size()));
}

Result<void> check_claim(std::string_view scope, std::string_view id,
                         std::chrono::milliseconds ttl) {
  HAPAX_TRY(check_length("a scope", scope, kMaxScope));
  HAPAX_TRY(check_length("an id", id, kMaxId));
  if (ttl.count() >= 1 && ttl <= kMaxTtl) return {};
  return Error(Code::invalid_argument, "ttl must be 1 ms to 36500 days; this one has " +
                                           std::to_string(ttl.count()) + " ms");
}

namespace {

Result<void> at_most(std::string_view what, std::string_view bytes, std::size_t most) {
  return bytes.empty() ? Result<void>() : check_length(what, bytes, most);
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::size_t header_bytes(const Message& message) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : message.headers) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

Result<void> check_message(const Message& message) {
  HAPAX_TRY(check_length("a destination", message.destination, kMaxDestination));
  if (!is_visible_ascii(message.destination)) {
    return Error(Code::invalid_argument, "a destination is a name of visible ASCII characters");
  }
  HAPAX_TRY(at_most("a message key", message.key, kMaxId));
  HAPAX_TRY(at_most("an order key", message.order_key, kMaxId));
  HAPAX_TRY(at_most("a payload", message.payload, kMaxPayload));
  if (header_bytes(message) <= kMaxHeaderBytes) return {};
  return Error(Code::invalid_argument,
               "a message's headers have " + std::to_string(kMaxHeaderBytes) + " bytes at most");
}

}  // namespace hapax::store
