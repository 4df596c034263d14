// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

struct sqlite3;

namespace hapax::store::sqlite {

// Scans the next `limit` claims in key order and removes expired ones. The cursor is stored in the
// file. Runs inside the caller's transaction.
Result<Purged> purge_step(sqlite3* db, std::int64_t now_ms, std::size_t limit);

}  // namespace hapax::store::sqlite
