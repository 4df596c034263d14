// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/filter.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>
#include <deque>

namespace hapax::store::postgres {

namespace {

// How many events one page scans, so that a filter without matches ends in time.
constexpr std::size_t kLookedAt = 20'000;

// The range of times that PostgreSQL supports. Any time outside it filters like its nearest end.
std::int64_t within_range(WallTime time) {
  constexpr std::int64_t kFirst = -62'135'596'800'000'000;  // the year 1
  constexpr std::int64_t kLast = 253'402'300'799'000'000;   // the year 9999
  return std::clamp<std::int64_t>(time.time_since_epoch().count(), kFirst, kLast);
}

Presence presence_of(std::int64_t missing) {
  return missing == 1 ? Presence::gone : Presence::absent;
}

template <class No>
std::optional<No> as(const std::optional<std::int64_t>& value) {
  return value ? std::optional(No(*value)) : std::nullopt;
}

// A row of kEvents, after the two columns of the scan.
EventRow event_row(const Row& row) {
  return {row.no<EventNo>(2),
          row.no<SourceNo>(3),
          row.bytes(4),
          row.bytes(5),
          row.bytes(6),
          row.bytes(7),
          row.number_or_none(8),
          row.time(9),
          row.digest(10),
          static_cast<std::size_t>(row.number(11)),
          static_cast<Would>(row.number(12)),
          static_cast<DeliveryState>(row.number(13)),
          static_cast<std::uint64_t>(row.number(14))};
}

// Columns of kEvent: n(0) to n(10), t(0) to t(2), b(0) to b(5).
constexpr int n(int i) {
  return 1 + i;
}
constexpr int t(int i) {
  return 12 + i;
}
constexpr int b(int i) {
  return 15 + i;
}

EventRow detail_row(EventNo number, const Row& row) {
  return {number,
          row.no<SourceNo>(n(0)),
          row.bytes(b(0)),
          row.bytes(b(1)),
          row.bytes(b(2)),
          row.bytes(b(3)),
          row.number_or_none(n(1)),
          row.time(t(0)),
          row.digest(b(4)),
          static_cast<std::size_t>(row.number(n(2))),
          static_cast<Would>(row.number(n(3))),
          static_cast<DeliveryState>(row.number(n(4))),
          static_cast<std::uint64_t>(row.number(n(5)))};
}

DeliveryRow delivery_row(const Row& row) {
  DeliveryRow delivery;
  delivery.no = row.no<DeliveryNo>(n(0));
  delivery.to = row.no<DestinationNo>(n(1));
  delivery.state = static_cast<DeliveryState>(row.number(n(2)));
  delivery.reason = static_cast<EndReason>(row.number(n(3)));
  delivery.replay_of = as<DeliveryNo>(row.number_or_none(n(4)));
  delivery.attempts = static_cast<unsigned>(row.number(n(5)));
  delivery.abandons = static_cast<unsigned>(row.number(n(6)));
  delivery.waiting = row.flag(n(7));
  delivery.blocking = row.flag(n(8));
  if (delivery.state == DeliveryState::leased) {
    delivery.holder = Holder{static_cast<Holder::Kind>(row.number(n(9))), row.number(n(10))};
  }
  delivery.ended = row.time_or_none(t(0));
  delivery.due = row.time_or_none(t(1));
  delivery.first_sent = row.time_or_none(t(2));
  return delivery;
}

Attempt attempt_row(const Row& row) {
  return {row.no<DeliveryNo>(n(0)),
          row.no<Fence>(n(1)),
          static_cast<AttemptOutcome>(row.number(n(2))),
          row.time(t(0)),
          WallTime(std::chrono::microseconds(row.number(n(3)))),
          std::chrono::milliseconds(row.number(n(4))),
          static_cast<int>(row.number(n(5))),
          row.bytes(b(0)),
          row.bytes(b(1))};
}

}  // namespace

void add_filter(Parameters& parameters, const EventFilter& filter) {
  parameters.add_number_or_null(filter.source ? std::optional(filter.source->value())
                                              : std::nullopt);
  for (const auto& text : {filter.tenant, filter.id, filter.type, filter.order_key}) {
    if (text) {
      parameters.add_bytes(*text);
    } else {
      parameters.add_bytes_or_null({});
    }
  }
  parameters.add_number_or_null(
      filter.status ? std::optional(static_cast<std::int64_t>(*filter.status)) : std::nullopt);
  for (const std::optional<WallTime>& time : {filter.since, filter.until}) {
    parameters.add_time(time ? std::optional(within_range(*time)) : std::nullopt);
  }
}

Result<std::vector<std::optional<EventNo>>> PostgresCatalog::find(
    std::span<const WantedIdentity> wanted) {
  std::deque<std::string> kept;
  std::vector<std::string_view> keys;
  for (const WantedIdentity& each : wanted) {
    keys.push_back(kept.emplace_back(event_claim_key(each.source, each.tenant, each.key)));
  }
  Parameters parameters;
  parameters.add_bytes_array(keys);
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kFind, parameters, "look for events"));
  std::vector<std::optional<EventNo>> found;
  found.reserve(wanted.size());
  for (int i = 0; i < answer.rows(); ++i) {
    found.push_back(as<EventNo>(Row(answer, i).number_or_none(0)));
  }
  return found;
}

Result<EventPage> PostgresCatalog::events(const EventQuery& query) {
  const std::size_t looked_at = std::max(kLookedAt, query.limit);
  Parameters parameters;
  parameters.add_number(query.before.value());
  parameters.add_number(static_cast<std::int64_t>(looked_at));
  parameters.add_number(static_cast<std::int64_t>(query.limit) + 1);
  add_filter(parameters, query.filter);
  parameters.add_time(runner_.moment());
  const bool unfinished = query.filter.status && *query.filter.status != DeliveryState::completed;
  HAPAX_TRY_ASSIGN(answer, runner_.transact(unfinished ? kUnfinishedEvents : kEvents, parameters,
                                            "list events"));
  EventPage page;
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    const bool all = row.number(1) < static_cast<std::int64_t>(looked_at);
    if (!all && !row.is_null(0)) page.next = row.no<EventNo>(0);
    if (row.is_null(2)) break;
    if (page.events.size() == query.limit) {
      page.next = page.events.back().no;
      break;
    }
    page.events.push_back(event_row(row));
  }
  return page;
}

Result<Lookup<EventDetail>> PostgresCatalog::event(EventNo number) {
  Parameters parameters;
  parameters.add_number(number.value());
  parameters.add_time(runner_.moment());
  parameters.add_number(kMaxShownAttempts);
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kEvent, parameters, "read an event"));
  EventDetail detail;
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    switch (row.number(0)) {
      case 0:
        detail.row = detail_row(number, row);
        detail.headers = row.bytes(b(5));
        break;
      case 1:
        detail.deliveries.push_back(delivery_row(row));
        break;
      case 2:
        detail.attempts.push_back(attempt_row(row));
        break;
      case 3:
        detail.variants.push_back(
            {row.digest(b(0)), WallTime(std::chrono::microseconds(row.number(n(1))))});
        break;
      default:
        return Lookup<EventDetail>{presence_of(row.number(n(0))), std::nullopt};
    }
  }
  std::sort(detail.attempts.begin(), detail.attempts.end(),
            [](const Attempt& a, const Attempt& o) { return a.fence < o.fence; });
  return Lookup<EventDetail>{Presence::here, std::move(detail)};
}

Result<Lookup<std::string>> PostgresCatalog::body(EventNo number, BodyOf which) {
  Parameters parameters;
  parameters.add_number(number.value());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(which == BodyOf::event ? kBody : kLastVariant,
                                            parameters, "read the body of an event"));
  const Row row(answer, 0);
  if (row.is_null(0)) return Lookup<std::string>{presence_of(row.number(1)), std::nullopt};
  return Lookup<std::string>{Presence::here, row.bytes(0)};
}

// Counting a long queue takes long, and many callers ask for counts: one count runs at a time, and
// large counts are cached for a while.
Result<Stats> PostgresCatalog::stats() {
  constexpr std::uint64_t kMany = 100'000;
  constexpr std::chrono::seconds kTold{10};
  const std::lock_guard lock(stats_mutex_);
  if (stats_ && runner_.since_boot() < stats_until_) return *stats_;
  HAPAX_TRY_ASSIGN(stats, count_stats());
  std::uint64_t counted = 0;
  for (const DestinationStats& each : stats.destinations) {
    counted += each.pending + each.leased + each.dead + each.superseded + each.cancelled;
  }
  stats_.reset();
  if (counted >= kMany) stats_ = stats;
  stats_until_ = runner_.since_boot() + kTold;
  return stats;
}

Result<Stats> PostgresCatalog::count_stats() {
  Parameters parameters;
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kStats, parameters, "count deliveries"));
  Stats stats;
  const auto count = [](const Row& row, int column) {
    return static_cast<std::uint64_t>(row.number(column));
  };
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    if (row.number(0) == 1) {
      stats.sources.push_back({row.no<SourceNo>(1), row.time(7)});
      continue;
    }
    stats.destinations.push_back({row.no<DestinationNo>(1), count(row, 2), count(row, 3),
                                  count(row, 4), count(row, 5), count(row, 6),
                                  row.time_or_none(7)});
  }
  return stats;
}

}  // namespace hapax::store::postgres
