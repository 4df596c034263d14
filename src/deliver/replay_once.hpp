// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/request_key.hpp"
#include "store/driver.hpp"

#include <chrono>
#include <optional>

namespace hapax::deliver {

inline constexpr std::size_t kMaxReplayNotes = 500;           // stored answers
inline constexpr std::chrono::hours kKeepReplayNote{7 * 24};  // their retention

struct ReplayOnceDeps {
  store::Queue& queue;
  store::Catalog& catalog;
  store::Node& node;
  const Clock& clock;
  Random& random;
};

// Replays one event for a request with an idempotency key. A repeated request (concurrent, on
// another node, or after a crash) gets the answer of the first one and replays nothing. nullopt:
// the key was used with another request. An answer other than `done` changed nothing and is not
// stored: the key stays free.
//
// The answer is a record in the store. Once the record is deleted, the key counts as new. Even then
// new deliveries of the first replay, and those still pending by it, are not replayed twice,
// because they have its number.
Result<std::optional<store::Replayed>> replay_once(const ReplayOnceDeps& deps, store::Replay what,
                                                   const RequestKey& key);

}  // namespace hapax::deliver
