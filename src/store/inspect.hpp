// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store {

// A read-only summary of a store.
struct StoreSummary {
  int version = 0;  // of its schema
  int known = 0;    // the one of this binary; the rest is there when they are the same
  WallTime now{};   // by the store's clock
  // Risks to the stored data, each with a remedy; there may be good reasons for them.
  std::vector<std::string> risks;
  std::vector<KnownName> sources;
  std::vector<KnownName> destinations;
  std::vector<SourceStats> seen;
  std::vector<std::string> problems;  // of the store itself, each with a remedy
  ClaimFaults faults;
};

// Inspects a store next to a running server: creates, upgrades and writes nothing, except fences on
// PostgreSQL, which every connection raises after a failover. nullopt: no store yet (no file, or a
// database without the schema); a memory store exists only in its server.
Result<std::optional<StoreSummary>> inspect(std::string_view url, const OpenOptions& options);

}  // namespace hapax::store
