// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "deliver/request_key.hpp"
#include "store/contract.hpp"

#include <chrono>
#include <optional>

namespace hapax::deliver {

inline constexpr std::size_t kMaxReplayNotes = 500;           // answers that are kept
inline constexpr std::chrono::hours kKeepReplayNote{7 * 24};  // ... for so long

struct ReplayOnceDeps {
  store::Driver& driver;
  const Clock& clock;
  Random& random;
};

// Replays one event for a request with a key. The same request again, at once, on another node or
// after a crash, gets the answer of the first one and replays nothing. Nothing: the key came with
// another request. An answer other than `done` changed nothing and is not kept: the key is free.
//
// What it answered is a record in the store. One that had to make room is not told from a new one;
// even then nothing that it made, or that is still on its way by it, is replayed twice, because the
// deliveries bear its number.
Result<std::optional<store::Replayed>> replay_once(const ReplayOnceDeps& deps, store::Replay what,
                                                   const RequestKey& key);

}  // namespace hapax::deliver
