// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/servers.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hapax::bench {

struct Against {
  std::vector<std::string> binaries;  // the first is the reference
  Ids ids = Ids::random;
  std::size_t remembered = 0;  // ids in each store before the first round
  int rounds = 10;
  double seconds = 3;
  double warm_up_seconds = 0;  // of load before the first round
  bool fresh = false;          // new stores for every round, so that their size stays the same
  int connections = 64;
};

// Compares the ingest of several binaries, each on its own SQLite file, in alternating rounds.
// Prints the median of the ratios to the first binary, so that a change is measured against its
// parent commit.
void compare_binaries(Servers& servers, const Against& options);

}  // namespace hapax::bench
