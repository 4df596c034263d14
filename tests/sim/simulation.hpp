// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/timeline.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace hapax::sim {

struct Options {
  std::uint64_t seed = 1;
  std::size_t nodes = 0;                              // 0: as the seed says
  std::size_t events = 0;                             // likewise
  bool sqlite = false;                                // a file in place of the memory store
  std::function<void(const std::string&)> show = {};  // every line of the history
};

struct Report {
  std::optional<Failure> failure;
  std::uint64_t hash = 0;  // of the history
  std::deque<std::string> last_lines;
  std::string summary;
};

// Two phases, then a stop. The first injects the faults of this seed: nodes and workers are killed,
// stopped and stalled past their leases, calendars jump, the store fails with known and unknown
// outcomes, the network loses, delays and cuts, handlers fail, operators cancel, replay and pause.
// Then all faults end, and everything must complete within bounded time. The invariants are those
// of Ledger and Senders, and:
//
//   liveness  every delivery comes to its end, every sender to his answer
//   leak      a node that has stopped holds no lease, and has no coroutine or attempt left
//   stop      a node that is told to stop does so within its grace time and a little more
Report simulate(const Options& options);

}  // namespace hapax::sim
