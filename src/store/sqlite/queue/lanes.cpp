// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/lanes.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

void free(Delivery& delivery, QueueState state, std::int64_t due_ms) {
  delivery.state = state;
  delivery.due_ms = due_ms;
  delivery.fence.reset();
  delivery.holder.reset();
}

void note_end(Delivery& delivery, QueueState state, EndReason reason, std::int64_t now_ms) {
  free(delivery, state, now_ms);
  delivery.reason = reason;
}

}  // namespace

Lanes::Lanes(sqlite3* db, QueueTable& queue, Fences& fences)
    : queue_(queue),
      fences_(fences),
      read_(db, kReadLane),
      insert_(db, kInsertLane),
      update_(db, kUpdateLane),
      remove_(db, kRemoveLane) {}

Result<Lanes::Lane> Lanes::read(DestinationNo to, const std::string& key) {
  Lane lane{.to = to, .key = key, .stored = false, .head = {}, .version = {}};
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(to.value()).bind(key).step("read a lane"));
  if (!found) return lane;
  lane.stored = true;
  if (const auto event = row.maybe(0)) {
    lane.head = DeliveryRef{EventNo(*event), DeliveryNo(row.number(1))};
  }
  lane.version = row.maybe(2);
  lane.version_until_ms = row.number(3);
  lane.remember_ms = row.number(4);
  return lane;
}

// The row of a lane that is empty and has no live version is removed at once, not by retention.
Result<void> Lanes::save(const Lane& lane, std::int64_t now_ms) {
  if (!lane.head && !lane.guards(now_ms)) {
    if (!lane.stored) return {};
    HAPAX_TRY(Run(remove_).bind(lane.to.value()).bind(lane.key).change("remove a lane"));
    return {};
  }
  Run row(lane.stored ? update_ : insert_);
  row.bind(lane.to.value()).bind(lane.key);
  if (lane.head) {
    row.bind(lane.head->event.value()).bind(lane.head->delivery.value());
  } else {
    row.bind_null().bind_null();
  }
  row.bind_maybe(lane.version).bind(lane.version_until_ms).bind(lane.remember_ms);
  HAPAX_TRY(row.change("change a lane"));
  return {};
}

Result<void> Lanes::make_head(Lane& lane, Delivery& delivery, std::int64_t now_ms) {
  lane.head = delivery.ref;
  free(delivery, QueueState::open, std::max(now_ms, delivery.due_ms));
  return queue_.write(delivery);
}

Result<void> Lanes::enter(Delivery& delivery, std::chrono::milliseconds remember,
                          std::int64_t now_ms) {
  free(delivery, QueueState::open, now_ms);
  if (delivery.lane.empty()) return queue_.insert(delivery);
  HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
  HAPAX_TRY_ASSIGN(place, fences_.next());
  delivery.lane_seq = place.value();
  const bool changes = !lane.head || lane.remember_ms != remember.count();
  lane.remember_ms = remember.count();
  if (lane.head) {
    delivery.state = QueueState::waiting;
  } else {
    lane.head = delivery.ref;
  }
  if (changes) HAPAX_TRY(save(lane, now_ms));
  return queue_.insert(delivery);
}

// Chooses the next head of the lane. Outdated deliveries are superseded on the way.
Result<void> Lanes::promote(Lane& lane, std::int64_t now_ms, Budget& budget) {
  lane.head.reset();
  for (;;) {
    HAPAX_TRY_ASSIGN(next, queue_.first_waiting(lane.to, lane.key));
    if (!next) return {};
    if (budget.superseded == 0 || !is_outdated(lane, *next, now_ms)) {
      return make_head(lane, *next, now_ms);
    }
    --budget.superseded;
    note_end(*next, QueueState::superseded, EndReason::none, now_ms);
    HAPAX_TRY(queue_.write(*next));
  }
}

Result<void> Lanes::leave(Lane& lane, const Delivery& delivery, std::int64_t now_ms,
                          Budget& budget) {
  if (lane.head != delivery.ref) return {};
  HAPAX_TRY(promote(lane, now_ms, budget));
  return save(lane, now_ms);
}

Result<void> Lanes::complete(Delivery& delivery, std::int64_t now_ms) {
  const bool in_lane = delivery.in_lane();
  note_end(delivery, QueueState::completed, EndReason::none, now_ms);
  HAPAX_TRY(queue_.remove(delivery.ref));
  if (!in_lane) return {};
  HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
  move_version(lane, delivery, now_ms);
  Budget budget;
  return leave(lane, delivery, now_ms, budget);
}

Result<void> Lanes::end(Delivery& delivery, QueueState state, EndReason reason, std::int64_t now_ms,
                        Budget& budget) {
  const bool in_lane = delivery.in_lane();
  note_end(delivery, state, reason, now_ms);
  HAPAX_TRY(queue_.write(delivery));
  if (!in_lane) return {};
  HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
  return leave(lane, delivery, now_ms, budget);
}

Result<void> Lanes::die(Delivery& delivery, EndReason reason, OnDead on_dead, std::int64_t now_ms,
                        Budget& budget) {
  if (on_dead == OnDead::skip || delivery.lane.empty()) {
    return end(delivery, QueueState::dead, reason, now_ms, budget);
  }
  note_end(delivery, QueueState::blocking, reason, now_ms);
  return queue_.write(delivery);
}

// Swaps an unleased head with a delivery that waits at a lower position. True: swapped, and both
// are written.
Result<bool> Lanes::give_way(Lane& lane, Delivery& head, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(lowest, queue_.first_waiting(lane.to, lane.key));
  if (!lowest || lowest->lane_seq > head.lane_seq) return false;
  free(head, QueueState::waiting, head.due_ms);
  HAPAX_TRY(queue_.write(head));
  HAPAX_TRY(make_head(lane, *lowest, now_ms));
  HAPAX_TRY(save(lane, now_ms));
  return true;
}

Result<void> Lanes::requeue(Delivery& delivery, std::int64_t due_ms, std::int64_t now_ms) {
  free(delivery, QueueState::open, due_ms);
  if (!delivery.lane.empty()) {
    HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
    HAPAX_TRY_ASSIGN(gave_way, give_way(lane, delivery, now_ms));
    if (gave_way) return {};
  }
  return queue_.write(delivery);
}

Result<void> Lanes::reopen(Delivery& delivery, std::int64_t now_ms) {
  const bool blocked = delivery.state == QueueState::blocking;
  delivery.reason = EndReason::none;
  if (blocked || delivery.lane.empty()) return requeue(delivery, now_ms, now_ms);
  return rejoin(delivery, now_ms);
}

Result<void> Lanes::rejoin(Delivery& delivery, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
  free(delivery, QueueState::waiting, now_ms);
  if (!lane.head) {
    HAPAX_TRY(make_head(lane, delivery, now_ms));
    return save(lane, now_ms);
  }
  HAPAX_TRY(queue_.write(delivery));
  HAPAX_TRY_ASSIGN(head, queue_.read(*lane.head));
  if (!head) return Error(Code::store_corrupt, "a lane in hapax_lane has lost its head");
  if (head->state == QueueState::blocking || head->leased(now_ms)) return {};
  HAPAX_TRY(give_way(lane, *head, now_ms));
  return {};
}

bool Lanes::is_outdated(const Lane& lane, const Delivery& delivery, std::int64_t now_ms) {
  return delivery.guard == Guard::full && delivery.version && lane.guards(now_ms) &&
         *delivery.version < *lane.version;
}

Result<bool> Lanes::is_outdated(const Delivery& delivery, std::int64_t now_ms) {
  if (!delivery.version || delivery.guard != Guard::full) return false;
  HAPAX_TRY_ASSIGN(lane, read(delivery.to, delivery.lane));
  return is_outdated(lane, delivery, now_ms);
}

void Lanes::move_version(Lane& lane, const Delivery& delivery, std::int64_t now_ms) {
  if (delivery.guard == Guard::none || !delivery.version) return;
  if (lane.guards(now_ms) && *delivery.version <= *lane.version) return;
  lane.version = delivery.version;
  lane.version_until_ms = now_ms + lane.remember_ms;
}

}  // namespace hapax::store::sqlite
