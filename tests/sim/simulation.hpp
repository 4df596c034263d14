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
  std::size_t nodes = 0;                              // 0: chosen by the seed
  std::size_t events = 0;                             // likewise
  bool sqlite = false;                                // SQLite instead of the memory store
  std::function<void(const std::string&)> show = {};  // every line of the history
};

struct Report {
  std::optional<Failure> failure;
  std::uint64_t hash = 0;  // of the history
  std::deque<std::string> last_lines;
  std::string summary;
};

// Two phases and a shutdown. The first phase injects the faults of this seed: nodes and workers are
// killed, stopped and stalled past their leases; wall clocks jump; the store fails with known and
// unknown outcomes; the network loses, delays and partitions; handlers fail; operators cancel,
// replay and pause. Then all faults end, and everything must complete within bounded time. The
// invariants are those of Ledger and Senders, and:
//
//   liveness  every delivery ends, and every sender gets its response
//   leak      a stopped node holds no lease and has no coroutine or attempt left
//   stop      a node stops within its grace time and a small margin
Report simulate(const Options& options);

}  // namespace hapax::sim
