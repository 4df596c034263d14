// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/memory/tables.hpp"

namespace hapax::store::memory {

bool matches(const Tables& tables, const Event& event, const EventFilter& filter, std::int64_t now);

std::vector<std::optional<EventNo>> find(const Tables& tables,
                                         std::span<const WantedIdentity> wanted, std::int64_t now);
EventPage events(const Tables& tables, const EventQuery& query, std::int64_t now);
Lookup<EventDetail> event(const Tables& tables, EventNo number, std::int64_t now);
Lookup<std::string> body(const Tables& tables, EventNo number, BodyOf which);
Stats stats(const Tables& tables, std::int64_t now);

}  // namespace hapax::store::memory
