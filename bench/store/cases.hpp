// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"
#include "bench/store/disk.hpp"
#include "bench/store/postgres.hpp"

#include <vector>

namespace hapax::bench {

// Store::dedup compared with a loop of INSERT ... ON CONFLICT DO NOTHING into a minimal table.
std::vector<Case> dedup_cases(WorkDirectory& directory);

// once() with a small work, compared with hand-written statements on a handle opened the same way.
std::vector<Case> once_cases(WorkDirectory& directory);

// The inbox compared with minimal statements on the same tables: admit, duplicates, lease and
// settle, mixed batches; and lanes compared with none.
std::vector<Case> inbox_cases(WorkDirectory& directory);

// hapax's inbox compared with itself with one pragma, index or kind of table undone.
std::vector<Case> choice_cases(WorkDirectory& directory);

// The same on PostgreSQL, compared with libpq: one statement per batch, and for once() the same
// transaction in as many round trips as hand-written code needs.
std::vector<Case> postgres_dedup_cases(PostgresPlace& place);
std::vector<Case> postgres_once_cases(PostgresPlace& place);
std::vector<Case> postgres_inbox_cases(PostgresPlace& place);

}  // namespace hapax::bench
