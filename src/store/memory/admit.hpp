// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

namespace hapax::store::memory {

struct Room {
  std::size_t claims = 0;
  std::size_t bytes = 0;
};

AdmitAnswer admit(Tables& tables, const Admit& admit, const Room& room, std::int64_t now);

// Whether the claim is live: not expired, or its event has unfinished deliveries.
bool stands(const Tables& tables, const EventClaim& claim, std::int64_t now);

// Stores an event with its deliveries. `guard` and `would` as in Admit.
void store_event(Tables& tables, const Arrival& arrival, Would would, bool guard, std::int64_t now);

std::size_t size_of(const Arrival& arrival);

}  // namespace hapax::store::memory
