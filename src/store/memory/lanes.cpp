// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/lanes.hpp"

namespace hapax::store::memory {

namespace {

// Keeps the index of open deliveries up to date.
void set_state(Tables& tables, Delivery& delivery, QueueState state, std::int64_t due_ms) {
  if (delivery.state == QueueState::open) {
    tables.due.erase({delivery.to, delivery.due_ms, delivery.ref});
  }
  delivery.state = state;
  delivery.due_ms = due_ms;
  if (state == QueueState::open) tables.due.insert({delivery.to, due_ms, delivery.ref});
}

Lane* lane_of(Tables& tables, const Delivery& delivery) {
  if (delivery.lane.empty()) return nullptr;
  return &tables.lanes[{delivery.to, delivery.lane}];
}

void make_head(Tables& tables, Lane& lane, Delivery& delivery, std::int64_t now) {
  lane.head = delivery.ref;
  set_state(tables, delivery, QueueState::open, std::max(now, delivery.due_ms));
}

void note_end(Tables& tables, Delivery& delivery, QueueState state, EndReason reason,
              std::int64_t now) {
  set_state(tables, delivery, state, delivery.due_ms);
  delivery.reason = reason;
  delivery.ended_ms = now;
  delivery.holder.reset();
  delivery.fence = tables.next_fence();
}

void remove_from(Lane& lane, Delivery& delivery) {
  lane.members.erase(delivery.lane_seq);
  delivery.in_lane = false;
}

// Chooses the next head of the lane. Outdated deliveries are superseded on the way.
void promote(Tables& tables, Lane& lane, std::int64_t now, Budget& budget) {
  while (!lane.members.empty()) {
    Delivery& next = tables.deliveries.at(lane.members.begin()->second);
    if (budget.superseded == 0 || !is_outdated(tables, next, now)) {
      make_head(tables, lane, next, now);
      return;
    }
    --budget.superseded;
    note_end(tables, next, QueueState::superseded, EndReason::none, now);
    remove_from(lane, next);
  }
}

// An unleased head swaps with a delivery that waits at a lower position.
void reconsider(Tables& tables, Lane& lane, std::int64_t now) {
  Delivery& head = tables.deliveries.at(lane.head);
  if (head.state == QueueState::dead || head.leased(now)) return;
  Delivery& lowest = tables.deliveries.at(lane.members.begin()->second);
  if (lowest.ref == head.ref) return;
  set_state(tables, head, QueueState::waiting, head.due_ms);
  head.holder.reset();
  head.fence = tables.next_fence();
  make_head(tables, lane, lowest, now);
}

void join(Tables& tables, Lane& lane, Delivery& delivery, std::int64_t now) {
  const bool first = lane.members.empty();
  lane.members.emplace(delivery.lane_seq, delivery.ref);
  delivery.in_lane = true;
  if (first) {
    make_head(tables, lane, delivery, now);
  } else {
    set_state(tables, delivery, QueueState::waiting, now);
  }
}

}  // namespace

void enter(Tables& tables, Delivery& delivery, std::chrono::milliseconds remember,
           std::int64_t now) {
  delivery.fence = tables.next_fence();
  Lane* lane = lane_of(tables, delivery);
  if (lane == nullptr) return set_state(tables, delivery, QueueState::open, now);
  lane->remember = remember;
  delivery.lane_seq = tables.next_fence().value();
  delivery.due_ms = now;
  join(tables, *lane, delivery, now);
}

void end(Tables& tables, Delivery& delivery, QueueState state, EndReason reason, std::int64_t now,
         Budget& budget) {
  note_end(tables, delivery, state, reason, now);
  if (!delivery.in_lane) return;
  Lane& lane = *lane_of(tables, delivery);
  remove_from(lane, delivery);
  if (lane.head == delivery.ref) promote(tables, lane, now, budget);
}

void die(Tables& tables, Delivery& delivery, EndReason reason, OnDead on_dead, std::int64_t now,
         Budget& budget) {
  if (on_dead == OnDead::skip) {
    end(tables, delivery, QueueState::dead, reason, now, budget);
  } else {
    note_end(tables, delivery, QueueState::dead, reason, now);
  }
}

void requeue(Tables& tables, Delivery& delivery, std::int64_t due_ms, std::int64_t now) {
  set_state(tables, delivery, QueueState::open, due_ms);
  delivery.holder.reset();
  delivery.fence = tables.next_fence();
  if (delivery.in_lane) reconsider(tables, *lane_of(tables, delivery), now);
}

void reopen(Tables& tables, Delivery& delivery, std::int64_t now) {
  delivery.reason = EndReason::none;
  delivery.ended_ms.reset();
  delivery.fence = tables.next_fence();
  delivery.due_ms = now;
  Lane* lane = lane_of(tables, delivery);
  if (lane == nullptr || delivery.in_lane) {
    set_state(tables, delivery, QueueState::open, now);  // outside lanes, or a blocking head
  } else {
    join(tables, *lane, delivery, now);
  }
  if (lane != nullptr) reconsider(tables, *lane, now);
}

void hold(Tables& tables, Delivery& delivery, std::int64_t until_ms) {
  set_state(tables, delivery, QueueState::open, until_ms);
}

bool is_outdated(const Tables& tables, const Delivery& delivery, std::int64_t now) {
  if (!delivery.in_lane || delivery.guard != Guard::full || !delivery.version) return false;
  const Lane& lane = tables.lanes.at({delivery.to, delivery.lane});
  if (!lane.version || is_expired(lane.version_until_ms, now)) return false;
  return *delivery.version < *lane.version;
}

void move_version(Tables& tables, const Delivery& delivery, std::int64_t now) {
  if (!delivery.in_lane || delivery.guard == Guard::none || !delivery.version) return;
  Lane& lane = tables.lanes.at({delivery.to, delivery.lane});
  const bool stands = lane.version && !is_expired(lane.version_until_ms, now);
  if (stands && *delivery.version <= *lane.version) return;
  lane.version = delivery.version;
  lane.version_until_ms = now + lane.remember.count();
}

}  // namespace hapax::store::memory
