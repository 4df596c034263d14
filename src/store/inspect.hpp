// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include "store/catalog.hpp"
#include "store/url.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hapax::store {

// A read-only summary of a store.
struct StoreSummary {
  int version = 0;  // of its schema
  int known = 0;    // version of this binary; the rest is set only if both match
  WallTime now{};   // store time
  // Risks to the stored data, each with a remedy; they may be accepted on purpose.
  std::vector<std::string> risks;
  std::vector<KnownName> sources;
  std::vector<KnownName> destinations;
  std::vector<SourceStats> seen;
  std::vector<std::string> problems;  // of the store itself, each with a remedy
  ClaimFaults faults;
};

// Inspects a store, also while a server uses it. Creates, upgrades and writes nothing, except that
// every PostgreSQL connection raises fences after a failover. nullopt: no store yet (no file, or a
// database without the schema); a memory store exists only in its server.
Result<std::optional<StoreSummary>> inspect(const StoreUrl& url, const OpenOptions& options);

}  // namespace hapax::store
