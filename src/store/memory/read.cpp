// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/read.hpp"

#include "store/memory/admit.hpp"

namespace hapax::store::memory {

namespace {

DeliveryState state_of(const Delivery& delivery, std::int64_t now) {
  switch (delivery.state) {
    case QueueState::open:
      return delivery.leased(now) ? DeliveryState::leased : DeliveryState::pending;
    case QueueState::waiting:
      return DeliveryState::pending;
    case QueueState::completed:
      return DeliveryState::completed;
    case QueueState::dead:
      return DeliveryState::dead;
    case QueueState::superseded:
      return DeliveryState::superseded;
    case QueueState::cancelled:
      break;
  }
  return DeliveryState::cancelled;
}

DeliveryState status_of(const Tables& tables, EventNo event, std::int64_t now) {
  DeliveryState status = DeliveryState::completed;
  const auto [first, last] = tables.deliveries_of(event);
  for (auto each = first; each != last; ++each) status = worse(status, state_of(each->second, now));
  return status;
}

EventRow row_of(const Tables& tables, const Event& event, std::int64_t now) {
  return {event.no,        event.source,      event.tenant,  event.id,
          event.type,      event.order_key,   event.version, wall(event.received_ms),
          event.digest,    event.body.size(), event.would,   status_of(tables, event.no, now),
          event.duplicates};
}

DeliveryRow row_of(const Delivery& delivery, std::int64_t now) {
  DeliveryRow row;
  row.no = delivery.ref.delivery;
  row.to = delivery.to;
  row.state = state_of(delivery, now);
  row.reason = delivery.reason;
  row.ended = wall(delivery.ended_ms);
  row.replay_of = delivery.replay_of;
  row.attempts = delivery.attempts;
  row.abandons = delivery.abandons;
  if (delivery.state == QueueState::open) row.due = wall(delivery.due_ms);
  row.waiting = delivery.state == QueueState::waiting;
  row.blocking = delivery.blocking();
  if (row.state == DeliveryState::leased) row.holder = delivery.holder;
  row.first_sent = wall(delivery.first_sent_ms);
  return row;
}

std::vector<Attempt> attempts_of(const Tables& tables, EventNo event) {
  std::vector<Attempt> found;
  auto each = tables.attempts.lower_bound({{event, DeliveryNo(0)}, Fence(0)});
  for (; each != tables.attempts.end() && each->first.first.event == event; ++each) {
    found.push_back(each->second);
  }
  std::sort(found.begin(), found.end(),
            [](const Attempt& a, const Attempt& b) { return a.fence < b.fence; });
  if (found.size() > kMaxShownAttempts) {
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(kMaxShownAttempts));
  }
  return found;
}

template <class Wanted, class Has>
bool is(const std::optional<Wanted>& wanted, const Has& has) {
  return !wanted || *wanted == has;
}

void count(DestinationStats& stats, DeliveryState state) {
  if (state == DeliveryState::pending) ++stats.pending;
  if (state == DeliveryState::leased) ++stats.leased;
  if (state == DeliveryState::dead) ++stats.dead;
  if (state == DeliveryState::superseded) ++stats.superseded;
  if (state == DeliveryState::cancelled) ++stats.cancelled;
}

}  // namespace

bool matches(const Tables& tables, const Event& event, const EventFilter& filter,
             std::int64_t now) {
  const WallTime received = wall(event.received_ms);
  return is(filter.source, event.source) && is(filter.tenant, event.tenant) &&
         is(filter.id, event.id) && is(filter.type, event.type) &&
         is(filter.order_key, event.order_key) && (!filter.since || received >= *filter.since) &&
         (!filter.until || received < *filter.until) &&
         (!filter.status || *filter.status == status_of(tables, event.no, now));
}

std::vector<std::optional<EventNo>> find(const Tables& tables,
                                         std::span<const WantedIdentity> wanted, std::int64_t now) {
  std::vector<std::optional<EventNo>> found;
  for (const WantedIdentity& each : wanted) {
    const auto claim = tables.claims.find(event_claim_key(each.source, each.tenant, each.key));
    const bool there = claim != tables.claims.end() && stands(tables, claim->second, now);
    found.push_back(there ? std::optional(claim->second.event) : std::nullopt);
  }
  return found;
}

EventPage events(const Tables& tables, const EventQuery& query, std::int64_t now) {
  EventPage page;
  auto each = tables.events.lower_bound(query.before);
  while (each != tables.events.begin()) {
    --each;
    if (!matches(tables, each->second, query.filter, now)) continue;
    if (page.events.size() == query.limit) {
      page.next = page.events.back().no;
      return page;
    }
    page.events.push_back(row_of(tables, each->second, now));
  }
  return page;
}

Lookup<EventDetail> event(const Tables& tables, EventNo number, std::int64_t now) {
  const auto found = tables.events.find(number);
  if (found == tables.events.end()) return {tables.presence_of(number), std::nullopt};
  EventDetail detail;
  detail.row = row_of(tables, found->second, now);
  detail.headers = found->second.headers;
  const auto [first, last] = tables.deliveries_of(number);
  for (auto each = first; each != last; ++each) {
    detail.deliveries.push_back(row_of(each->second, now));
  }
  detail.attempts = attempts_of(tables, number);
  detail.variants = found->second.variants;
  return {Presence::here, std::move(detail)};
}

Lookup<std::string> body(const Tables& tables, EventNo number, BodyOf which) {
  const auto found = tables.events.find(number);
  if (found == tables.events.end()) return {tables.presence_of(number), std::nullopt};
  const Event& event = found->second;
  if (which == BodyOf::event) return {Presence::here, event.body};
  if (event.variants.empty()) return {Presence::absent, std::nullopt};
  return {Presence::here, event.last_variant};
}

Stats stats(const Tables& tables, std::int64_t now) {
  std::map<DestinationNo, DestinationStats> by_destination;
  for (const auto& [ref, delivery] : tables.deliveries) {
    if (delivery.state == QueueState::completed) continue;
    DestinationStats& stats = by_destination[delivery.to];
    stats.destination = delivery.to;
    count(stats, state_of(delivery, now));
    if (delivery.state != QueueState::open) continue;
    const WallTime due = wall(delivery.due_ms);
    if (!stats.oldest_due || due < *stats.oldest_due) stats.oldest_due = due;
  }
  Stats all;
  for (auto& [destination, stats] : by_destination) all.destinations.push_back(stats);
  for (const auto& [source, seen_ms] : tables.seen_ms)
    all.sources.push_back({source, wall(seen_ms)});
  return all;
}

}  // namespace hapax::store::memory
