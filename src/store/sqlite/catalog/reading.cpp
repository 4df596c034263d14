// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/catalog/reading.hpp"

#include "base/try.hpp"
#include "store/claims.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kReading = "read an event";

DeliveryRow row_of(const Delivery& delivery, std::int64_t now_ms) {
  DeliveryRow row;
  row.no = delivery.ref.delivery;
  row.to = delivery.to;
  row.state = shown(delivery, now_ms);
  row.reason = delivery.reason;
  if (delivery.ended()) row.ended = wall_of(delivery.due_ms);
  row.replay_of = delivery.replay_of;
  row.attempts = delivery.attempts;
  row.abandons = delivery.abandons;
  if (delivery.state == QueueState::open) row.due = wall_of(delivery.due_ms);
  row.waiting = delivery.state == QueueState::waiting;
  row.blocking = delivery.state == QueueState::blocking;
  if (row.state == DeliveryState::leased) row.holder = delivery.holder;
  row.first_sent = wall_of(delivery.first_sent_ms);
  return row;
}

Attempt read_attempt(const Run& row) {
  return {DeliveryNo(row.number(0)),
          Fence(row.number(1)),
          static_cast<AttemptOutcome>(row.number(2)),
          wall_of(row.number(3)),
          wall_of_us(row.number(4)),
          std::chrono::milliseconds(row.number(5)),
          static_cast<int>(row.number(6)),
          std::string(row.bytes(7)),
          std::string(row.bytes(8))};
}

// The counts of one destination, added if it is new.
DestinationStats& of(std::vector<DestinationStats>& all, std::int64_t destination) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const DestinationStats& each) {
    return each.destination.value() == destination;
  });
  if (found != all.end()) return *found;
  all.emplace_back().destination = DestinationNo(destination);
  return all.back();
}

void add(DestinationStats& stats, QueueState state, std::uint64_t count) {
  if (state == QueueState::waiting) {
    stats.pending += count;
  } else if (state == QueueState::cancelled) {
    stats.cancelled += count;
  } else if (state == QueueState::superseded) {
    stats.superseded += count;
  } else {
    stats.dead += count;
  }
}

}  // namespace

Reading::Reading(sqlite3* db)
    : listing(db),
      queue_(db),
      claims_(db),
      is_held_(db, kEventIsHeld),
      headers_(db, kReadHeaders),
      body_(db, kReadBody),
      last_variant_(db, kReadLastVariant),
      variants_(db, kReadVariants),
      attempts_(db, kAttemptsOf),
      open_(db, kCountOpen),
      leased_(db, kCountLeased),
      rest_(db, kCountRest),
      seen_(db, kReadSeen),
      faults_(db, kReadClaimFaults) {}

Result<std::vector<std::optional<EventNo>>> Reading::find(std::span<const WantedIdentity> wanted,
                                                          std::int64_t now_ms) {
  std::vector<std::string> keys;
  keys.reserve(wanted.size());
  for (const WantedIdentity& each : wanted) {
    keys.push_back(event_claim_key(each.source, each.tenant, each.key));
  }
  HAPAX_TRY_ASSIGN(claims, claims_.find(keys));
  std::vector<std::optional<EventNo>> found(claims.size());
  for (std::size_t at = 0; at < claims.size(); ++at) {
    if (!claims[at]) continue;
    HAPAX_TRY_ASSIGN(free, is_free(*claims[at], now_ms));
    if (!free) found[at] = claims[at]->event;
  }
  return found;
}

Result<bool> Reading::is_free(const EventClaim& claim, std::int64_t now_ms) {
  if (!is_expired(claim.expires_ms, now_ms)) return false;
  HAPAX_TRY_ASSIGN(held, Run(is_held_).bind(claim.event.value()).step("find an event"));
  return !held;
}

Result<Lookup<EventDetail>> Reading::event(EventNo number, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(row, listing.row(number, now_ms));
  if (!row) {
    HAPAX_TRY_ASSIGN(presence, listing.presence_of(number));
    return Lookup<EventDetail>{presence, std::nullopt};
  }
  EventDetail detail;
  detail.row = std::move(*row);
  {
    Run headers(headers_);
    HAPAX_TRY(headers.bind(number.value()).step(kReading));
    detail.headers = headers.bytes(0);
  }
  HAPAX_TRY_ASSIGN(deliveries, queue_.all_of(number));
  for (const Delivery& each : deliveries) detail.deliveries.push_back(row_of(each, now_ms));
  HAPAX_TRY_ASSIGN(attempts, attempts_of(number));
  detail.attempts = std::move(attempts);
  HAPAX_TRY_ASSIGN(variants, variants_of(number));
  detail.variants = std::move(variants);
  return Lookup<EventDetail>{Presence::here, std::move(detail)};
}

Result<std::vector<Attempt>> Reading::attempts_of(EventNo number) {
  std::vector<Attempt> found;
  Run rows(attempts_);
  rows.bind(number.value()).bind(std::int64_t{kMaxShownAttempts});
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kReading));
    if (!more) break;
    found.push_back(read_attempt(rows));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Result<std::vector<Variant>> Reading::variants_of(EventNo number) {
  std::vector<Variant> found;
  Run rows(variants_);
  rows.bind(number.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kReading));
    if (!more) return found;
    Variant& variant = found.emplace_back();
    const std::string_view digest = rows.bytes(0);
    std::copy_n(digest.begin(), std::min(digest.size(), variant.digest.size()),
                variant.digest.begin());
    variant.at = wall_of_us(rows.number(1));
  }
}

Result<Lookup<std::string>> Reading::body(EventNo number, BodyOf which) {
  HAPAX_TRY_ASSIGN(presence, listing.presence_of(number));
  if (presence != Presence::here) return Lookup<std::string>{presence, std::nullopt};
  Run row(which == BodyOf::event ? body_ : last_variant_);
  HAPAX_TRY_ASSIGN(found, row.bind(number.value()).step(kReading));
  if (!found) return Lookup<std::string>{Presence::absent, std::nullopt};
  return Lookup<std::string>{Presence::here, std::string(row.bytes(0))};
}

Result<Stats> Reading::stats(std::int64_t now_ms) {
  Stats stats;
  HAPAX_TRY(count_open(stats.destinations, now_ms));
  HAPAX_TRY(count_rest(stats.destinations));
  std::sort(stats.destinations.begin(), stats.destinations.end(),
            [](const auto& a, const auto& b) { return a.destination < b.destination; });
  Run seen(seen_);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, seen.step("count"));
    if (!more) return stats;
    stats.sources.push_back({SourceNo(seen.number(0)), wall_of(seen.number(1))});
  }
}

Result<ClaimFaults> Reading::claim_faults() {
  Run row(faults_);
  HAPAX_TRY_ASSIGN(found, row.step("count"));
  if (!found) {
    return Error(Code::store_corrupt, "the table hapax_claim_fault is empty; it must have one row");
  }
  return ClaimFaults{static_cast<std::uint64_t>(row.number(0)), EventNo(row.number(1)),
                     EventNo(row.number(2))};
}

Result<void> Reading::count_open(std::vector<DestinationStats>& all, std::int64_t now_ms) {
  Run rows(open_);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("count"));
    if (!more) return {};
    DestinationStats& stats = of(all, rows.number(0));
    Run leased(leased_);
    HAPAX_TRY(leased.bind(rows.number(0)).bind(now_ms).step("count"));
    stats.leased = static_cast<std::uint64_t>(leased.number(0));
    stats.pending = static_cast<std::uint64_t>(rows.number(1)) - stats.leased;
    stats.oldest_due = wall_of(rows.number(2));
  }
}

Result<void> Reading::count_rest(std::vector<DestinationStats>& all) {
  Run rows(rest_);
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("count"));
    if (!more) return {};
    const auto count = static_cast<std::uint64_t>(rows.number(2));
    add(of(all, rows.number(0)), static_cast<QueueState>(rows.number(1)), count);
  }
}

}  // namespace hapax::store::sqlite
