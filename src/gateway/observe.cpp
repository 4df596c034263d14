// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/arrivals.hpp"
#include "gateway/receive.hpp"

// A source in observe mode is tried out on live traffic: what would be refused or suppressed is
// stored and delivered all the same, and marked. None of it claims an id, so that nothing true is
// suppressed by it, now or after the mode ends.
namespace hapax::gateway {

namespace {

// Limits hold in every mode.
bool is_limit(Reason reason) {
  return reason == Reason::body_too_large;
}

// The whole request as one event. What it says of itself is for people: nobody vouches for it.
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

// Those items of the request that the store has under another event.
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

// The answers of those that are now stored, in the places of the duplicates.
void put_back(std::vector<Accepted>& accepted, const std::vector<store::Admission>& stored) {
  auto next = stored.begin();
  for (Accepted& each : accepted) {
    if (!each.duplicate || next == stored.end()) continue;
    each.event = (next++)->event;
    each.would = Would::duplicate;
  }
}

}  // namespace

Task<void> Receiver::observe(const Source& source, const Request& request, Received& received) {
  const auto* refused = std::get_if<Refused>(&received);
  auto* taken = std::get_if<Taken>(&received);
  std::vector<Accepted>* const accepted = taken != nullptr ? &taken->events : nullptr;
  if (refused != nullptr ? is_limit(refused->reason) : accepted == nullptr) co_return;
  const Identified identified = refused != nullptr
                                    ? as_one_event(source, request, scratch_)
                                    : duplicates_of(source, request, *accepted, scratch_);
  if (identified.items.empty()) co_return;
  if (!unclaimed_.take(source.no, identified.items.size(), bytes_of(identified))) {
    // A duplicate is in the store, so leaving this one out loses nothing; anything else is to come
    // again.
    if (accepted == nullptr) received = Error(Code::queue_full, "over the rate of observe mode");
    co_return;
  }
  Result<Arrivals> arrivals = Arrivals::make(source, request, identified, numbers_);
  if (!arrivals) {
    received = std::move(arrivals).error();
    co_return;
  }
  const store::Admit admit = arrivals->admit(refused != nullptr ? Would::reject : Would::duplicate);
  const store::AdmitAnswer answer = co_await commit_.admit(admit);
  if (!answer) {
    received = answer.error();
  } else if (accepted != nullptr) {
    put_back(*accepted, *answer);
  } else {
    const Identity& identity = identified.items.front().identity;
    Accepted stored{.event = answer->front().event, .id = identity.id};
    stored.would = Would::reject;
    Taken now;
    now.events.push_back(std::move(stored));
    received = std::move(now);
  }
}

}  // namespace hapax::gateway
