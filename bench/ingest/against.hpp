// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/servers.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hapax::bench {

struct Against {
  std::vector<std::string> binaries;  // the first is what the others are compared with
  Ids ids = Ids::random;
  std::size_t remembered = 0;  // ids that each store has before the first round
  int rounds = 10;
  double seconds = 3;
  double warm_up_seconds = 0;  // of load before the first round
  bool fresh = false;          // stores for every round, so that they stay as small
  int connections = 64;
};

// Ingest by several binaries on a SQLite file each, in alternating rounds: for each the median of
// its rounds' ratios to the first, so that a change is measured beside the commit before it.
void compare_binaries(Servers& servers, const Against& options);

}  // namespace hapax::bench
