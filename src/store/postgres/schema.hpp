// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/executor.hpp"

#include <chrono>
#include <span>
#include <string_view>

namespace hapax::store::postgres {

// migrations/*.sql in their order, embedded by the build. Forward only.
std::span<const std::string_view> migrations();

// How a migration waits for the locks it needs. Whoever waits for a table as a whole holds up all
// that come after: so it waits for a moment, lets them go on for a while, and tries again.
struct MigrationWaits {
  std::chrono::milliseconds lock{50};
  std::chrono::milliseconds rest{1000};
  int tries = 600;
};

// Brings the schema `hapax` to the version this binary knows, in one transaction; several nodes may
// do it at once. No transaction may be in progress, unless the schema is current. Refuses a schema
// that is newer. store_busy: another transaction kept a lock for all of the tries, or somebody has
// cancelled it, and nothing was changed. Returns the version.
Result<int> migrate(Executor& executor, const MigrationWaits& waits = {});

Result<int> version_of(Executor& executor);  // 0 when there is none

// Says what migrate() would have to do, as an error: a schema that is missing, older or newer.
Result<void> check_schema(Executor& executor);

// Whether this user can keep events: their days are made and dropped on the way, which only the
// owner of the tables may do.
Result<void> check_owner(Executor& executor);

}  // namespace hapax::store::postgres
