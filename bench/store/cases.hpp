// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"
#include "bench/store/disk.hpp"
#include "bench/store/postgres.hpp"

#include <vector>

namespace hapax::bench {

// Store::dedup beside a loop of INSERT ... ON CONFLICT DO NOTHING into the least table that does.
std::vector<Case> dedup_cases(WorkDirectory& directory);

// once() with a small work beside the same done by hand, on handles opened the same way.
std::vector<Case> once_cases(WorkDirectory& directory);

// The inbox beside the least statements that do the same on the same tables: admit, duplicates,
// lease and settle, mixed batches; and lanes beside none.
std::vector<Case> inbox_cases(WorkDirectory& directory);

// hapax's inbox with one pragma, index or kind of table undone, beside hapax as it is.
std::vector<Case> choice_cases(WorkDirectory& directory);

// The same on PostgreSQL, beside libpq: one statement for each batch, and for once() the same
// transaction in as many round trips as it takes by hand.
std::vector<Case> postgres_dedup_cases(PostgresPlace& place);
std::vector<Case> postgres_once_cases(PostgresPlace& place);
std::vector<Case> postgres_inbox_cases(PostgresPlace& place);

}  // namespace hapax::bench
