// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

struct sqlite3;

namespace hapax::store::sqlite {

// Brings the schema to the version this binary knows, in one transaction; several processes may do
// it at once. `db` must not be in a transaction unless the schema is current. Refuses a schema that
// is newer. Returns the version.
Result<int> migrate(sqlite3* db);

int known_version();                  // the one that this binary knows
Result<int> version_of(sqlite3* db);  // 0 when there is none

// Says what migrate() would have to do, as an error: a schema that is missing, older or newer.
Result<void> check_schema(sqlite3* db);

}  // namespace hapax::store::sqlite
