// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

// The state of a delivery, in its lane or outside lanes. Only these functions change
// Delivery::state, Delivery::due_ms and the membership of lanes.
namespace hapax::store::memory {

// How many more deliveries this item may supersede.
struct Budget {
  unsigned superseded = kMaxSuperseded;
};

// Adds a new delivery at the end of its lane; without a lane it is open.
void enter(Tables& tables, Delivery& delivery, std::chrono::milliseconds remember,
           std::int64_t now);

// Ends a delivery and removes it from its lane: the next one becomes the head. For dead deliveries
// use die(): they may block the lane instead.
void end(Tables& tables, Delivery& delivery, QueueState state, EndReason reason, std::int64_t now,
         Budget& budget);
void die(Tables& tables, Delivery& delivery, EndReason reason, OnDead on_dead, std::int64_t now,
         Budget& budget);

// Pending again, due at `due_ms`, without a holder. Swaps with a delivery that waits at a lower
// position.
void requeue(Tables& tables, Delivery& delivery, std::int64_t due_ms, std::int64_t now);

// Returns an ended delivery to its old position.
void reopen(Tables& tables, Delivery& delivery, std::int64_t now);

// Leases it until `until_ms`.
void hold(Tables& tables, Delivery& delivery, std::int64_t until_ms);

// Whether its lane has completed a newer version.
bool is_outdated(const Tables& tables, const Delivery& delivery, std::int64_t now);
void move_version(Tables& tables, const Delivery& delivery, std::int64_t now);

}  // namespace hapax::store::memory
