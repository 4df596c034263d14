// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// The statements for claims and messages; the functions are defined in migrations/. Each is one
// round trip and one transaction, at the database's default isolation level: at the higher levels a
// conflict is 40001 and is retried. Unnamed: a pooler in transaction mode keeps no prepared
// statement. Qualified: see inbox_statements.hpp.
namespace hapax::store::postgres {

// 1 keys in order, 2 tokens, 3 ttls in ms, 4 moment or NULL, 5 lock_timeout in ms. Returns a digit
// per key. The server times out before we do, so that it reports that the statement did not happen
// instead of running it unattended.
inline constexpr const char* kClaim = "SELECT hapax._claim($1, $2, $3, $4, $5)";

// Raises the sequences of fences and message numbers if the server has changed; cheap otherwise.
// The functions that draw such numbers do the same.
inline constexpr const char* kCheckEpoch = "SELECT hapax._check_epoch(true)";

// 1 limit, 2 moment or NULL, 3 lock_timeout in ms, set before the function runs because its
// arguments depend on it. Returns how many were removed, and whether that was the end of the table.
inline constexpr const char* kPurge =
    "SELECT r.removed, r.done"
    " FROM (SELECT pg_catalog.set_config('lock_timeout', $3::pg_catalog.text, true) AS ms) AS "
    "patience,"
    " LATERAL hapax._retain_claims(4, $1,"
    " CASE WHEN patience.ms OPERATOR(pg_catalog.<>) '' THEN $2 END) AS r";

// In the caller's transaction. 1 id, 2 destination, 3 key, 4 order key, 5 headers, 6 payload, 7
// claim key, 8 digest, 9 ttl in ms, 10 moment; 3, 4, 7, 8 and 10 may be NULL.
inline constexpr const char* kEnqueue =
    "SELECT pg_catalog.encode(pg_catalog.uuid_send(message), 'hex'), duplicate, reused FROM "
    "hapax._enqueue("
    "pg_catalog.encode($1, 'hex')::pg_catalog.uuid, pg_catalog.convert_from($2, 'UTF8'), $3, $4, "
    "$5, $6, $7, $8, $9, $10)";

}  // namespace hapax::store::postgres
