// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"
#include "store/sqlite/connection.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hapax::store::sqlite {

// The column hapax_queue.state.
enum class QueueState : std::uint8_t {
  open = 0,        // to be leased or leased
  waiting = 1,     // behind the head of its lane
  dead = 2,        // and out of its lane
  cancelled = 3,   //
  superseded = 4,  //
  blocking = 5,    // dead, and still the head of its lane
  completed = 6,   // never in the column: such a delivery is an attempt only
};

// How a delivery and the version of its lane go together.
enum class Guard : std::uint8_t {
  full,     // compared with the lane's version, and moves it
  observe,  // moves it
  none,     // neither: a replay
};

// A row of hapax_queue. Of a completed delivery, whose row is gone, only `ref`, `to`, `listen`,
// `due_ms` and `replay_of` with `replay` are known.
struct Delivery {
  DeliveryRef ref;
  DestinationNo to;
  QueueState state = QueueState::open;
  std::int64_t due_ms = 0;  // when it may be leased; when it has ended: when that was
  unsigned attempts = 0;
  unsigned abandons = 0;
  bool listen = false;
  Guard guard = Guard::full;
  bool first_lease = false;      // the lease that stands set first_sent_ms
  std::optional<Fence> fence;    // of the last lease, until it is settled or taken over
  std::optional<Holder> holder;  // ... and whose it is
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
  // Whether it keeps its event and the event's claim.
  bool holds() const { return !listen && (!ended() || state == QueueState::blocking); }
};

// In the order of HAPAX_DELIVERY in inbox_statements.hpp.
Delivery read_delivery(const Run& row);

DeliveryState shown(const Delivery& delivery, std::int64_t now_ms);

// The rows of hapax_queue on one connection, one at a time. What a transition means is decided
// elsewhere.
class Queue {
 public:
  explicit Queue(sqlite3* db);

  Result<std::optional<Delivery>> read(const DeliveryRef& ref);
  // Of one event, by number, completed ones too.
  Result<std::vector<Delivery>> all_of(EventNo event);
  Result<std::optional<Delivery>> first_waiting(DestinationNo to, std::string_view lane);
  Result<std::vector<Delivery>> due(DestinationNo from, std::size_t max, std::int64_t now_ms);
  Result<std::vector<Delivery>> held_by(const ReleaseStep& step);

  Result<void> insert(const Delivery& delivery);
  // Some that are open, outside lanes and no replays, which is cheaper at once.
  Result<void> insert_open(std::span<const Delivery> deliveries);
  // A lease: its holder, fence, due_ms and what goes with them.
  Result<void> lease(const Delivery& delivery);
  Result<void> renew(const Delivery& delivery);
  // Any other transition. The row has no holder then.
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
