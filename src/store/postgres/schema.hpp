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

// How a migration waits for the locks it needs. A pending table lock blocks all later statements on
// the table: so each try waits only briefly, and rests before the next.
struct MigrationWaits {
  std::chrono::milliseconds lock{50};
  std::chrono::milliseconds rest{1000};
  int tries = 600;
};

// Upgrades the schema `hapax` to the version of this binary, in one transaction; several nodes may
// do so at once. No transaction may be in progress, unless the schema is current. Rejects a newer
// schema. store_busy: another transaction held a lock during all tries, or a user cancelled the
// migration, and nothing was changed. Returns the version.
Result<int> migrate(Executor& executor, const MigrationWaits& waits = {});

Result<int> version_of(Executor& executor);  // 0: no schema

// An error if the schema is missing, older or newer, or if this user may not write to it.
Result<void> check_schema(Executor& executor);

// Whether this user can store events: that creates and drops daily partitions, which only the owner
// of the tables may do.
Result<void> check_owner(Executor& executor);

}  // namespace hapax::store::postgres
