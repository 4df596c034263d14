// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/retention.hpp"

#include "base/try.hpp"
#include "store/claims.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"
#include "store/sqlite/queue/queue.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kRetaining = "remove expired rows";

// The largest tolerated clock error of a node that generates event numbers.
constexpr std::chrono::milliseconds kClockError = days;

const Periods* periods_of(const SweepStep& step, SourceNo source) {
  const auto found = std::find_if(step.periods.begin(), step.periods.end(),
                                  [&](const Periods& each) { return each.source == source; });
  return found == step.periods.end() ? nullptr : &*found;
}

std::int64_t shortest(const Periods& periods) {
  return std::min(periods.keep, periods.keep_dead).count();
}

// Whether this event and all with larger numbers are too young to be removed, whatever their state.
// Numbers are generated in time order, so the walk need not read every event. Events of a node
// whose clock is off by more than a day are removed later, and an implausible number is ignored.
bool is_where_young_begin(EventNo no, std::int64_t received_ms, std::int64_t shortest_ms,
                          std::int64_t now_ms) {
  const auto made_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(made_at(no).time_since_epoch()).count();
  const std::int64_t error = kClockError.count();
  const bool plausible = made_ms - received_ms <= error && received_ms - made_ms <= error;
  return plausible && made_ms - error + shortest_ms > now_ms;
}

}  // namespace

struct Retention::Step {
  const SweepStep& asked;
  std::int64_t now_ms;
  std::size_t left;  // rows that may still be scanned
  Cursor at;
  Swept swept = {};

  std::int64_t limit() const { return static_cast<std::int64_t>(left); }
};

Retention::Retention(sqlite3* db, ClaimIndex& claims)
    : claims_(claims),
      read_cursor_(db, kReadSweep),
      write_cursor_(db, kWriteSweep),
      next_events_(db, kSweepEvents),
      deliveries_(db, kDeliveriesOf),
      last_completed_(db, kLastCompleted),
      has_event_(db, kHasEvent),
      remove_event_(db, kRemoveEvent),
      remove_deliveries_(db, kRemoveDeliveriesOf),
      remove_variants_(db, kRemoveVariantsOf),
      remove_duplicates_(db, kRemoveDuplicatesOf),
      next_attempts_(db, kSweepAttempts),
      remove_attempts_(db, kRemoveAttemptsOf),
      next_claims_(db, kSweepClaims),
      remove_claim_(db, kRemoveEventClaim),
      next_lanes_(db, kSweepLanes),
      remove_lane_(db, kRemoveLane) {}

Result<Swept> Retention::sweep(const SweepStep& asked, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(before, read_cursor());
  Step step{.asked = asked, .now_ms = now_ms, .left = asked.limit, .at = before};
  using Walk = Result<bool> (Retention::*)(Step&);
  constexpr std::array<Walk, 4> kWalks{&Retention::walk_events, &Retention::walk_attempts,
                                       &Retention::walk_claims, &Retention::walk_lanes};
  auto phase = static_cast<std::size_t>(before.phase);
  for (; phase < kWalks.size(); ++phase) {
    HAPAX_TRY_ASSIGN(all, (this->*kWalks[phase])(step));
    if (!all) break;
  }
  step.swept.done = phase == kWalks.size();
  step.at.phase = static_cast<Phase>(phase);
  if (step.swept.done) {
    const std::int64_t floor = step.at.floor;
    step.at = Cursor{};
    step.at.floor = floor;
  }
  // A step that changes nothing writes nothing, and so syncs nothing.
  if (step.at != before) HAPAX_TRY(write_cursor(step.at));
  return step.swept;
}

Result<Retention::Cursor> Retention::read_cursor() {
  Run row(read_cursor_);
  HAPAX_TRY_ASSIGN(found, row.step(kRetaining));
  if (!found)
    return Error(Code::store_corrupt, "the table hapax_sweep is empty; it must have one row");
  return Cursor{static_cast<Phase>(row.number(0)),
                row.number(1),
                row.number(2),
                row.number(3),
                std::string(row.bytes(4)),
                row.number(5),
                std::string(row.bytes(6)),
                row.number(7)};
}

Result<void> Retention::write_cursor(const Cursor& cursor) {
  Run row(write_cursor_);
  row.bind(static_cast<std::int64_t>(cursor.phase)).bind(cursor.event);
  row.bind(cursor.attempt_event).bind(cursor.attempt_delivery).bind(cursor.claim);
  row.bind(cursor.lane_destination).bind(cursor.lane_key).bind(cursor.floor);
  HAPAX_TRY(row.change(kRetaining));
  return {};
}

Result<std::vector<Retention::EventHead>> Retention::next_events(const Step& step) {
  std::vector<EventHead> found;
  Run rows(next_events_);
  rows.bind(step.at.event).bind(step.limit());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kRetaining));
    if (!more) return found;
    found.push_back({EventNo(rows.number(0)), SourceNo(rows.number(1)), rows.number(2)});
  }
}

Result<bool> Retention::walk_events(Step& step) {
  std::int64_t shortest_ms = kMaxTtl.count();
  for (const Periods& each : step.asked.periods)
    shortest_ms = std::min(shortest_ms, shortest(each));
  HAPAX_TRY_ASSIGN(events, next_events(step));
  bool all = events.size() < step.left;
  for (const EventHead& each : events) {
    if (is_where_young_begin(each.no, each.received_ms, shortest_ms, step.now_ms)) {
      all = true;
      break;
    }
    --step.left;
    step.at.event = each.no.value();
    HAPAX_TRY_ASSIGN(goes, may_go(each, step));
    if (!goes) continue;
    HAPAX_TRY(remove_event(each.no));
    step.at.floor = std::max(step.at.floor, each.no.value());
    ++step.swept.events;
  }
  return all;
}

Result<bool> Retention::may_go(const EventHead& event, const Step& step) {
  const Periods* periods = periods_of(step.asked, event.source);
  if (periods == nullptr) return false;
  if (!is_expired(event.received_ms + shortest(*periods), step.now_ms)) return false;
  std::int64_t ended_ms = event.received_ms;
  bool dead = false;
  Run rows(deliveries_);
  rows.bind(event.no.value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step(kRetaining));
    if (!more) break;
    const Delivery delivery = read_delivery(rows);
    if (delivery.holds()) return false;
    if (delivery.listen) continue;
    ended_ms = std::max(ended_ms, delivery.due_ms);
    dead = dead || delivery.state == QueueState::dead;
  }
  Run completed(last_completed_);
  HAPAX_TRY(completed.bind(event.no.value()).step(kRetaining));
  ended_ms = std::max(ended_ms, completed.number(0));
  return is_expired(ended_ms + (dead ? periods->keep_dead : periods->keep).count(), step.now_ms);
}

Result<void> Retention::remove_event(EventNo event) {
  for (Lazy* each : {&remove_deliveries_, &remove_variants_, &remove_duplicates_, &remove_event_}) {
    HAPAX_TRY(Run(*each).bind(event.value()).change(kRetaining));
  }
  return {};
}

Result<bool> Retention::has_event(std::int64_t event) {
  return Run(has_event_).bind(event).step(kRetaining);
}

// The attempts of one delivery are removed together, by the last of them.
Result<bool> Retention::walk_attempts(Step& step) {
  struct Group {
    std::int64_t event, delivery, settled_ms, rows;
  };
  std::vector<Group> groups;
  {
    Run rows(next_attempts_);
    rows.bind(step.at.attempt_event).bind(step.at.attempt_delivery);
    rows.bind(step.at.floor).bind(step.limit());
    for (;;) {
      HAPAX_TRY_ASSIGN(more, rows.step(kRetaining));
      if (!more) break;
      groups.push_back({rows.number(0), rows.number(1), rows.number(2), rows.number(3)});
    }
  }
  const bool all = groups.size() < step.left;
  for (const Group& each : groups) {
    --step.left;
    step.at.attempt_event = each.event;
    step.at.attempt_delivery = each.delivery;
    if (!is_expired(each.settled_ms + kKeepAttempts.count(), step.now_ms)) continue;
    HAPAX_TRY_ASSIGN(needed, has_event(each.event));
    if (needed) continue;
    HAPAX_TRY(Run(remove_attempts_).bind(each.event).bind(each.delivery).change(kRetaining));
    step.swept.others += static_cast<std::size_t>(each.rows);
  }
  return all;
}

// Expired claims are first merged into the index, so that the walk finds them.
Result<bool> Retention::walk_claims(Step& step) {
  if (step.at.claim.empty()) {
    HAPAX_TRY_ASSIGN(all, claims_.flush_expired(step.left, step.now_ms));
    if (!all) return false;
  }
  struct Claim {
    std::string key;
    std::int64_t event;
    bool expired;
  };
  std::vector<Claim> claims;
  {
    Run rows(next_claims_);
    rows.bind(step.at.claim).bind(step.limit());
    for (;;) {
      HAPAX_TRY_ASSIGN(more, rows.step(kRetaining));
      if (!more) break;
      claims.push_back(
          {std::string(rows.bytes(0)), rows.number(1), is_expired(rows.number(2), step.now_ms)});
    }
  }
  const bool all = claims.size() < step.left;
  step.left -= claims.size();
  for (const Claim& each : claims) {
    if (!each.expired) continue;
    HAPAX_TRY_ASSIGN(needed, has_event(each.event));
    if (needed) continue;
    HAPAX_TRY(Run(remove_claim_).bind(each.key).change(kRetaining));
    ++step.swept.others;
  }
  if (!claims.empty()) step.at.claim = std::move(claims.back().key);
  return all;
}

Result<bool> Retention::walk_lanes(Step& step) {
  struct Lane {
    std::int64_t destination;
    std::string key;
    bool needed;
  };
  std::vector<Lane> lanes;
  {
    Run rows(next_lanes_);
    rows.bind(step.at.lane_destination).bind(step.at.lane_key).bind(step.limit());
    for (;;) {
      HAPAX_TRY_ASSIGN(more, rows.step(kRetaining));
      if (!more) break;
      const bool guards = rows.maybe(3) && !is_expired(rows.number(4), step.now_ms);
      lanes.push_back(
          {rows.number(0), std::string(rows.bytes(1)), rows.maybe(2).has_value() || guards});
    }
  }
  const bool all = lanes.size() < step.left;
  step.left -= lanes.size();
  for (const Lane& each : lanes) {
    if (each.needed) continue;
    HAPAX_TRY(Run(remove_lane_).bind(each.destination).bind(each.key).change(kRetaining));
    ++step.swept.others;
  }
  if (!lanes.empty()) {
    step.at.lane_destination = lanes.back().destination;
    step.at.lane_key = std::move(lanes.back().key);
  }
  return all;
}

}  // namespace hapax::store::sqlite
