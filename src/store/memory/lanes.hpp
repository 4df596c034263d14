// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

// Where a delivery stands, in its lane or outside of one. These are the only functions that change
// Delivery::standing, due_ms and the membership of lanes.
namespace hapax::store::memory {

// How many more deliveries this item may turn to superseded.
struct Budget {
  unsigned superseded = kMaxSuperseded;
};

// Puts a new delivery behind the others of its lane; without a lane it is open.
void enter(Tables& tables, Delivery& delivery, std::chrono::milliseconds remember,
           std::int64_t now);

// Ends it, in the lane's sense too: the next one becomes head. A dead delivery that blocks its lane
// ends by die().
void end(Tables& tables, Delivery& delivery, QueueState state, EndReason reason, std::int64_t now,
         Budget& budget);
void die(Tables& tables, Delivery& delivery, EndReason reason, OnDead on_dead, std::int64_t now,
         Budget& budget);

// Pending again, from `due_ms` on, nobody's; where one with a lower place waits they change places.
void requeue(Tables& tables, Delivery& delivery, std::int64_t due_ms, std::int64_t now);

// An ended delivery goes back to its old place.
void reopen(Tables& tables, Delivery& delivery, std::int64_t now);

// Leased until then.
void hold(Tables& tables, Delivery& delivery, std::int64_t until_ms);

// Whether its lane has completed a newer version.
bool is_outdated(const Tables& tables, const Delivery& delivery, std::int64_t now);
void move_version(Tables& tables, const Delivery& delivery, std::int64_t now);

}  // namespace hapax::store::memory
