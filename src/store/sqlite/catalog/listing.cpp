// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/catalog/listing.hpp"

#include "base/try.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"
#include "store/sqlite/queue/queue.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kListing = "list events";

// How many events one call scans, so that a filter with few matches cannot make it long.
constexpr std::size_t kLookAtMost = 10'000;

// Reads the columns of HAPAX_EVENT_ROW; status and duplicates are in other tables.
EventRow read_event_row(const Run& row) {
  EventRow event;
  event.no = EventNo(row.number(0));
  event.source = SourceNo(row.number(1));
  event.received = wall_of(row.number(2));
  event.would = static_cast<Would>(row.number(3));
  event.version = row.maybe(4);
  event.tenant = row.bytes(5);
  event.id = row.bytes(6);
  event.type = row.bytes(7);
  event.order_key = row.bytes(8);
  const std::string_view digest = row.bytes(9);
  std::copy_n(digest.begin(), std::min(digest.size(), event.digest.size()), event.digest.begin());
  event.body_size = static_cast<std::size_t>(row.number(10));
  return event;
}

template <class Wanted, class Is>
bool is(const std::optional<Wanted>& wanted, const Is& value) {
  return !wanted || *wanted == value;
}

// Everything except the status, on the raw row: most rows of a search are rejected here.
bool may_match(const Run& row, const EventFilter& filter) {
  const WallTime received = wall_of(row.number(2));
  return (!filter.source || filter.source->value() == row.number(1)) &&
         is(filter.tenant, row.bytes(5)) && is(filter.id, row.bytes(6)) &&
         is(filter.type, row.bytes(7)) && is(filter.order_key, row.bytes(8)) &&
         (!filter.since || received >= *filter.since) &&
         (!filter.until || received < *filter.until);
}

}  // namespace

bool matches(const EventRow& row, const EventFilter& filter) {
  return is(filter.source, row.source) && is(filter.tenant, row.tenant) && is(filter.id, row.id) &&
         is(filter.type, row.type) && is(filter.order_key, row.order_key) &&
         is(filter.status, row.status) && (!filter.since || row.received >= *filter.since) &&
         (!filter.until || row.received < *filter.until);
}

Listing::Listing(sqlite3* db)
    : has_event_(db, kHasEvent),
      floor_(db, kReadFloor),
      row_(db, kEventRow),
      events_down_(db, kEventsDown),
      events_up_(db, kEventsUp),
      unfinished_down_(db, kUnfinishedDown),
      unfinished_up_(db, kUnfinishedUp),
      states_(db, kStatesOf),
      duplicates_(db, kReadDuplicates) {}

Result<Presence> Listing::presence_of(EventNo number) {
  HAPAX_TRY_ASSIGN(here, Run(has_event_).bind(number.value()).step(kListing));
  if (here) return Presence::here;
  Run floor(floor_);
  HAPAX_TRY(floor.step(kListing));
  return number.value() <= floor.number(0) ? Presence::gone : Presence::absent;
}

Result<DeliveryState> Listing::status_of(EventNo number, std::int64_t now_ms) {
  DeliveryState status = DeliveryState::completed;
  Run rows(states_);
  rows.bind(number.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kListing));
    if (!more) return status;
    Delivery delivery;
    delivery.state = static_cast<QueueState>(rows.number(0));
    delivery.due_ms = rows.number(1);
    if (rows.maybe(2)) delivery.holder.emplace();
    status = worse(status, shown(delivery, now_ms));
  }
}

Result<std::uint64_t> Listing::duplicates_of(EventNo number) {
  Run row(duplicates_);
  HAPAX_TRY_ASSIGN(found, row.bind(number.value()).step(kListing));
  return found ? static_cast<std::uint64_t>(row.number(0)) : 0;
}

Result<std::optional<EventRow>> Listing::row(EventNo number, std::int64_t now_ms) {
  Run run(row_);
  HAPAX_TRY_ASSIGN(found, run.bind(number.value()).step(kListing));
  if (!found) return std::optional<EventRow>();
  EventRow event = read_event_row(run);
  HAPAX_TRY_ASSIGN(status, status_of(number, now_ms));
  HAPAX_TRY_ASSIGN(duplicates, duplicates_of(number));
  event.status = status;
  event.duplicates = duplicates;
  return std::optional(std::move(event));
}

// Walks events in one direction and stops at matches. A filter on a status other than completed
// walks the queue, which is short; any other filter walks the table of events.
class Listing::Walk {
 public:
  Walk(Listing& listing, const EventFilter& filter, std::int64_t now_ms, bool down)
      : listing_(listing),
        filter_(filter),
        now_ms_(now_ms),
        by_queue_(filter.status && *filter.status != DeliveryState::completed),
        rows_(down ? (by_queue_ ? listing.unfinished_down_ : listing.events_down_)
                   : (by_queue_ ? listing.unfinished_up_ : listing.events_up_)) {}

  Run& bounds() { return rows_; }

  // The next match; nullopt at the end, or after kLookAtMost events.
  Result<std::optional<EventNo>> next() {
    while (looked_ < kLookAtMost) {
      HAPAX_TRY_ASSIGN(more, rows_.step(kListing));
      if (!more) {
        ended_ = true;
        break;
      }
      ++looked_;
      last_ = EventNo(rows_.number(0));
      HAPAX_TRY_ASSIGN(match, matches_last());
      if (match) return std::optional(last_);
    }
    return std::optional<EventNo>();
  }

  bool ended() const { return ended_; }
  EventNo last() const { return last_; }  // scanned

 private:
  Result<bool> matches_last() {
    if (by_queue_) {
      Run row(listing_.row_);
      HAPAX_TRY_ASSIGN(found, row.bind(last_.value()).step(kListing));
      if (!found || !may_match(row, filter_)) return false;
    } else if (!may_match(rows_, filter_)) {
      return false;
    }
    if (!filter_.status) return true;
    HAPAX_TRY_ASSIGN(status, listing_.status_of(last_, now_ms_));
    return status == *filter_.status;
  }

  Listing& listing_;
  const EventFilter& filter_;
  const std::int64_t now_ms_;
  const bool by_queue_;
  Run rows_;
  std::size_t looked_ = 0;
  EventNo last_;
  bool ended_ = false;
};

Result<EventPage> Listing::page(const EventQuery& query, std::int64_t now_ms) {
  EventPage page;
  Walk walk(*this, query.filter, now_ms, true);
  walk.bounds().bind(query.before.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(number, walk.next());
    if (number && page.events.size() == query.limit) {
      page.next = page.events.back().no;
      return page;
    }
    if (!number) {
      if (!walk.ended()) page.next = walk.last();
      return page;
    }
    HAPAX_TRY_ASSIGN(found, row(*number, now_ms));
    if (found) page.events.push_back(std::move(*found));
  }
}

Result<Listing::Found> Listing::next_of(const ReplayStep& step, std::int64_t now_ms) {
  Found found{.events = {}, .after = step.after, .done = false};
  Walk walk(*this, step.filter, now_ms, false);
  walk.bounds().bind(step.after.value()).bind(step.until.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(number, walk.next());
    if (number && found.events.size() == step.limit) return found;
    if (!number) {
      found.done = walk.ended();
      if (!found.done) found.after = walk.last();
      return found;
    }
    found.events.push_back(*number);
    found.after = *number;
  }
}

}  // namespace hapax::store::sqlite
