// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/queue.hpp"
#include "store/sqlite/claims/claim_index.hpp"

#include <string>

namespace hapax::store::sqlite {

// Incremental retention: events, then attempts, claims and lanes, each walked to its end before the
// next, so that rows that depend on a removed event are visited after it. The cursor is stored in
// the file. Inside a write transaction.
class Retention {
 public:
  Retention(sqlite3* db, ClaimIndex& claims);

  Result<Swept> sweep(const SweepStep& step, std::int64_t now_ms);

 private:
  enum class Phase : std::uint8_t { events, attempts, claims, lanes };
  struct Cursor {
    Phase phase = Phase::events;
    std::int64_t event = 0;
    std::int64_t attempt_event = 0;
    std::int64_t attempt_delivery = 0;
    std::string claim;
    std::int64_t lane_destination = 0;
    std::string lane_key;
    std::int64_t floor = 0;

    friend bool operator==(const Cursor&, const Cursor&) = default;
  };
  // The request and the progress of one step.
  struct Step;

  Result<Cursor> read_cursor();
  Result<void> write_cursor(const Cursor& cursor);

  // True: the walk has reached the end.
  Result<bool> walk_events(Step& step);
  Result<bool> walk_attempts(Step& step);
  Result<bool> walk_claims(Step& step);
  Result<bool> walk_lanes(Step& step);

  struct EventHead {
    EventNo no;
    SourceNo source;
    std::int64_t received_ms = 0;
  };
  Result<std::vector<EventHead>> next_events(const Step& step);
  Result<bool> may_go(const EventHead& event, const Step& step);
  Result<void> remove_event(EventNo event);
  Result<bool> has_event(std::int64_t event);

  ClaimIndex& claims_;
  Lazy read_cursor_;
  Lazy write_cursor_;
  Lazy next_events_;
  Lazy deliveries_;
  Lazy last_completed_;
  Lazy has_event_;
  Lazy remove_event_;
  Lazy remove_deliveries_;
  Lazy remove_variants_;
  Lazy remove_duplicates_;
  Lazy next_attempts_;
  Lazy remove_attempts_;
  Lazy next_claims_;
  Lazy remove_claim_;
  Lazy next_lanes_;
  Lazy remove_lane_;
};

}  // namespace hapax::store::sqlite
