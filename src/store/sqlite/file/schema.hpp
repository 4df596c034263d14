// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

struct sqlite3;

namespace hapax::store::sqlite {

// Upgrades the schema to the version of this binary, in one transaction; several processes may do
// so at once. `db` must not be in a transaction unless the schema is current. Rejects a newer
// schema. Returns the version.
Result<int> migrate(sqlite3* db);

int known_version();                  // of this binary
Result<int> version_of(sqlite3* db);  // 0: no schema

// An error if the schema is missing, older or newer.
Result<void> check_schema(sqlite3* db);

}  // namespace hapax::store::sqlite
