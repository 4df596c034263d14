// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/admit_request.hpp"
#include "gateway/receive.hpp"

// Observe mode tests a source on live traffic: requests that would be rejected or suppressed are
// marked, stored and delivered. They claim no ids, so they never suppress genuine events, neither
// now nor after the mode ends.
namespace hapax::gateway {

namespace {

// Limits apply in every mode.
bool is_limit(Reason reason) {
  return reason == Reason::body_too_large;
}

// The whole request as one event. Its identity is only for display: it is unverified.
Identified as_one_event(const Source& source, const Request& request, Scratch& scratch) {
  Identified told = source.identifier.identify(request, scratch);
  Identified one;
  Item item;
  if (told.items.size() == 1 && told.items.front().reason == Reason::none) {
    item.identity = std::move(told.items.front().identity);
  }
  item.bytes = request.body;
  one.items.push_back(std::move(item));
  return one;
}

// The items of the request that are duplicates of stored events.
Identified duplicates_of(const Source& source, const Request& request,
                         const std::vector<Accepted>& accepted, Scratch& scratch) {
  Identified all = source.identifier.identify(request, scratch);
  take_refused(all);
  Identified some;
  for (std::size_t i = 0; i < all.items.size() && i < accepted.size(); ++i) {
    if (accepted[i].duplicate) some.items.push_back(std::move(all.items[i]));
  }
  return some;
}

std::size_t bytes_of(const Identified& identified) {
  std::size_t bytes = 0;
  for (const Item& each : identified.items) bytes += each.bytes.size();
  return bytes;
}

// Replaces the results of the duplicates by those of the events now stored.
void put_back(std::vector<Accepted>& accepted, const std::vector<store::Admission>& stored) {
  auto next = stored.begin();
  for (Accepted& each : accepted) {
    if (!each.duplicate || next == stored.end()) continue;
    each.event = (next++)->event;
    each.would = Would::duplicate;
  }
}

// The items as events without an identity.
Identified without_ids(const std::vector<Item>& items) {
  Identified made;
  for (const Item& each : items) {
    Item item;
    item.bytes = each.bytes;
    made.items.push_back(std::move(item));
  }
  return made;
}

void add_rejected(std::vector<Accepted>& accepted, const Identified& identified,
                  const std::vector<store::Admission>& stored) {
  for (std::size_t i = 0; i < stored.size(); ++i) {
    Accepted made{.event = stored[i].event, .id = identified.items[i].identity.id};
    made.would = Would::reject;
    accepted.push_back(std::move(made));
  }
}

}  // namespace

// Returns nullopt if over the rate limit.
Task<std::optional<store::AdmitAnswer>> Receiver::store_unclaimed(const Source& source,
                                                                  const Request& request,
                                                                  const Identified& identified,
                                                                  Would would) {
  if (!deps_.unclaimed.take(source.no, identified.items.size(), bytes_of(identified))) {
    co_return std::nullopt;
  }
  Result<AdmitRequest> admit_request =
      AdmitRequest::make(source, request, identified, deps_.numbers);
  if (!admit_request) co_return store::AdmitAnswer(std::move(admit_request).error());
  const store::Admit admit = admit_request->admit(would);
  store::AdmitAnswer answer = co_await deps_.async_store.admit(admit);
  deps_.notifier.notify(admit_request->targets());
  co_return std::move(answer);
}

Task<void> Receiver::observe(const Source& source, const Request& request, Received& received) {
  const auto* refused = std::get_if<Refused>(&received);
  if (refused != nullptr && !is_limit(refused->reason)) {
    const Identified one = as_one_event(source, request, scratch_);
    const auto answer = co_await store_unclaimed(source, request, one, Would::reject);
    if (!answer) {
      received = Error(Code::queue_full, "rate limit of observe mode exceeded");
    } else if (!*answer) {
      received = answer->error();
    } else {
      Stored stored;
      add_rejected(stored.events, one, **answer);
      received = std::move(stored);
    }
    co_return;
  }
  auto* stored = std::get_if<Stored>(&received);
  if (stored == nullptr) co_return;
  const Identified known = duplicates_of(source, request, stored->events, scratch_);
  if (!known.items.empty()) {
    const auto answer = co_await store_unclaimed(source, request, known, Would::duplicate);
    // A duplicate over the rate limit is stored as its first event, so skipping it loses nothing.
    if (answer && *answer) put_back(stored->events, **answer);
    if (answer && !*answer) received = answer->error();
  }
  stored = std::get_if<Stored>(&received);
  if (stored == nullptr || stored->rejected.empty()) co_return;
  const Identified bad = without_ids(stored->rejected);
  const auto answer = co_await store_unclaimed(source, request, bad, Would::reject);
  if (!answer) co_return;  // they are kept as rejects
  if (!*answer) {
    received = answer->error();
    co_return;
  }
  add_rejected(stored->events, bad, **answer);
  stored->rejected.clear();
}

}  // namespace hapax::gateway
