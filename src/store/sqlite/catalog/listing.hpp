// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/catalog.hpp"
#include "store/queue.hpp"
#include "store/sqlite/file/connection.hpp"

#include <optional>
#include <vector>

namespace hapax::store::sqlite {

bool matches(const EventRow& row, const EventFilter& filter);

// Lists events for display, on one connection, inside a transaction of any kind.
class Listing {
 public:
  explicit Listing(sqlite3* db);

  Result<Presence> presence_of(EventNo number);
  Result<std::optional<EventRow>> row(EventNo number, std::int64_t now_ms);
  Result<EventPage> page(const EventQuery& query, std::int64_t now_ms);

  // The events of one replay step.
  struct Found {
    std::vector<EventNo> events;
    EventNo after;
    bool done = false;
  };
  Result<Found> next_of(const ReplayStep& step, std::int64_t now_ms);

 private:
  class Walk;

  Result<DeliveryState> status_of(EventNo number, std::int64_t now_ms);
  Result<std::uint64_t> duplicates_of(EventNo number);

  Lazy has_event_;
  Lazy floor_;
  Lazy row_;
  Lazy events_down_;
  Lazy events_up_;
  Lazy unfinished_down_;
  Lazy unfinished_up_;
  Lazy states_;
  Lazy duplicates_;
};

}  // namespace hapax::store::sqlite
