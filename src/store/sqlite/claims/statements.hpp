// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

// The statements for claims, messages and time on SQLite, by name. All but kReadClock run only
// inside a write transaction (BEGIN IMMEDIATE in the store; the caller's own in tx/), so that data
// read by one cannot change before the next.
namespace hapax::store::sqlite {

// Claims a free key; otherwise changes no row. The primary key decides.
// 1 key, 2 token, 3 expires, 4 result.
inline constexpr std::string_view kClaim =
    "INSERT INTO hapax_claim(key, token, expires_ms, result) VALUES(?1, ?2, ?3, ?4)"
    " ON CONFLICT DO NOTHING";

// Takes over an expired claim. The same parameters, and 5 now. Separate from the insert, because an
// upsert would make every insert pay for expired claims.
inline constexpr std::string_view kTakeOver =
    "UPDATE hapax_claim SET token = ?2, expires_ms = ?3, result = ?4"
    " WHERE key = ?1 AND expires_ms <= ?5";

// The current claim, for a caller that did not get it. Primary key.
inline constexpr std::string_view kReadClaim =
    "SELECT token, result, expires_ms FROM hapax_claim WHERE key = ?1";

// Adds the result of the work to the claim of the same transaction. 1 result, 2 key, 3 token.
inline constexpr std::string_view kStoreResult =
    "UPDATE hapax_claim SET result = ?1 WHERE key = ?2 AND token = ?3";

// An outbox message. The server moves committed rows into the queue.
inline constexpr std::string_view kInsertMessage =
    "INSERT INTO hapax_message(id, destination, key, order_key, headers, payload, created_ms)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";

// Changes nothing; takes the write lock in a transaction that has done nothing yet.
inline constexpr std::string_view kTakeWriteLock = "UPDATE hapax_clock SET one = one WHERE 0";

// Store time: see store_time.hpp. A one-row table, always rewritten as a whole.
inline constexpr std::string_view kReadClock =
    "SELECT boot_id, boot_ms, wall_ms, store_ms FROM hapax_clock WHERE one = 1";
// last_ms is for an older hapax that still runs. 1 boot id, 2 boot clock, 3 wall clock, 4 store
// time.
inline constexpr std::string_view kNoteClock =
    "UPDATE hapax_clock SET boot_id = ?1, boot_ms = ?2, wall_ms = ?3, store_ms = ?4, last_ms = ?4"
    " WHERE one = 1";

// Retention walks the claims by key, a step at a time: an index on expires_ms would cost every
// insert a page. Returns the last key of the step, or no row if less than a whole step remains.
// 1 after, 2 limit - 1.
inline constexpr std::string_view kPurgeStepEnd =
    "SELECT key FROM hapax_claim WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ?2";
// 1 after, 2 up to, 3 now.
inline constexpr std::string_view kPurgeStep =
    "DELETE FROM hapax_claim WHERE key > ?1 AND key <= ?2 AND expires_ms <= ?3";
// 1 after, 2 now.
inline constexpr std::string_view kPurgeRest =
    "DELETE FROM hapax_claim WHERE key > ?1 AND expires_ms <= ?2";
inline constexpr std::string_view kReadPurgeCursor = "SELECT after FROM hapax_purge WHERE one = 1";
inline constexpr std::string_view kWritePurgeCursor =
    "UPDATE hapax_purge SET after = ?1 WHERE one = 1";

}  // namespace hapax::store::sqlite
