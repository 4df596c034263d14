// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/queue.hpp"
#include "store/sqlite/file/connection.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hapax::store::sqlite {

// The column hapax_queue.state.
enum class QueueState : std::uint8_t {
  open = 0,     // pending or leased
  waiting = 1,  // behind the head of its lane
  dead = 2,     // out of its lane
  cancelled = 3,
  superseded = 4,
  blocking = 5,   // dead, and still the head of its lane
  completed = 6,  // never stored: a completed delivery is only an attempt
};

// A row of hapax_queue. A completed delivery has no row: only `ref`, `to`, `listen`, `due_ms`,
// `replay_of` and `replay` are known.
struct Delivery {
  DeliveryRef ref;
  DestinationNo to;
  QueueState state = QueueState::open;
  std::int64_t due_ms = 0;  // when it may be leased, or when it ended
  unsigned attempts = 0;
  unsigned abandons = 0;
  bool listen = false;
  Guard guard = Guard::full;
  bool first_lease = false;      // the current lease set first_sent_ms
  std::optional<Fence> fence;    // of the last lease, until it is settled or taken over
  std::optional<Holder> holder;  // of the same lease
  std::optional<std::int64_t> first_sent_ms;
  std::string lane;  // empty: none
  std::int64_t lane_seq = 0;
  std::optional<std::int64_t> version;
  std::optional<DeliveryNo> replay_of;
  ReplayNo replay;  // the last one
  EndReason reason = EndReason::none;

  bool ended() const { return state != QueueState::open && state != QueueState::waiting; }
  bool leased(std::int64_t now_ms) const {
    return state == QueueState::open && holder && now_ms < due_ms;
  }
  bool in_lane() const {
    return !lane.empty() && (state == QueueState::open || state == QueueState::waiting ||
                             state == QueueState::blocking);
  }
  // Whether it keeps its event and the event's claim alive.
  bool holds() const { return !listen && (!ended() || state == QueueState::blocking); }
};

// Reads the columns of HAPAX_DELIVERY in inbox_statements.hpp.
Delivery read_delivery(const Run& row);

DeliveryState shown(const Delivery& delivery, std::int64_t now_ms);

// The rows of hapax_queue on one connection. The transitions are in Lanes.
class QueueTable {
 public:
  explicit QueueTable(sqlite3* db);

  Result<std::optional<Delivery>> read(const DeliveryRef& ref);
  // Of one event, by number, including completed ones.
  Result<std::vector<Delivery>> all_of(EventNo event);
  Result<std::optional<Delivery>> first_waiting(DestinationNo to, std::string_view lane);
  Result<std::vector<Delivery>> due(DestinationNo from, std::size_t max, std::int64_t now_ms);
  Result<std::vector<Delivery>> held_by(const ReleaseStep& step);

  Result<void> insert(const Delivery& delivery);
  // Several open deliveries outside lanes that are no replays: cheaper than one by one.
  Result<void> insert_open(std::span<const Delivery> deliveries);
  // Writes a lease: holder, fence, due_ms and related columns.
  Result<void> lease(const Delivery& delivery);
  Result<void> renew(const Delivery& delivery);
  // Writes any other transition, which clears holder and fence.
  Result<void> write(const Delivery& delivery);
  Result<void> remove(const DeliveryRef& ref);

 private:
  Lazy read_;
  Lazy all_of_;
  Lazy completed_of_;
  Lazy first_waiting_;
  Lazy due_;
  Lazy held_by_;
  Lazy insert_open_;
  Lazy insert_many_open_;
  Lazy insert_;
  Lazy lease_;
  Lazy renew_;
  Lazy write_;
  Lazy remove_;
};

}  // namespace hapax::store::sqlite
