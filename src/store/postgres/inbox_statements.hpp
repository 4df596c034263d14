// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

// The statements of the inbox; the functions are defined in migrations/. Each is one transaction.
// With HAPAX_PATIENTLY it is also one round trip, at the database's default isolation level, and
// $1 is the lock_timeout in ms; that is set before the function runs, because the function's
// arguments depend on it. The others run in Connection::transact(). A moment is store time, or NULL
// for the server's clock. Results are in binary form.
//
// Unqualified names are resolved by the session's search_path, and other roles may create objects
// in a schema of it. So every function, operator and type is qualified, and syntax that implies an
// operator is avoided: IN, BETWEEN, USING, NULLIF, IS DISTINCT FROM, CASE x WHEN.
namespace hapax::store::postgres {

#define HAPAX_PATIENTLY                                                                       \
  " FROM (SELECT pg_catalog.set_config('lock_timeout', $1::pg_catalog.text, true) AS ms) AS " \
  "patience, LATERAL "
#define HAPAX_MOMENT(n) \
  "CASE WHEN patience.ms OPERATOR(pg_catalog.<>) '' THEN $" #n "::pg_catalog.timestamptz END"

// kNeedDays: 2 days. kNeedDaysFrom: 2 moment.
inline constexpr const char* kNeedDays =
    "SELECT d" HAPAX_PATIENTLY
    "hapax._need_days(CASE WHEN patience.ms OPERATOR(pg_catalog.<>) '' THEN $2 END) AS d";
inline constexpr const char* kNeedDaysFrom =
    "SELECT d" HAPAX_PATIENTLY "hapax._need_days_from(" HAPAX_MOMENT(2) ") AS d";

// 2-14 arrays with an element per arrival, 15-23 per target, 24 moment. Returns a row for each
// arrival that is not fresh: its place from 1, event, changed.
inline constexpr const char* kAdmit =
    "SELECT a.place, a.event, a.changed" HAPAX_PATIENTLY
    "hapax._admit($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,"
    " $20, $21, $22, $23, " HAPAX_MOMENT(24) ") AS a";

// 2-10 arrays with an element per request, 11 how many may be superseded, 12 how many bytes may be
// leased, 13 moment, 14 a random token, whose last 8 bits count the answers lost before, 15 NULL,
// or for a repeat the largest possible age of the first statement in ms.
inline constexpr const char* kLease =
    "SELECT l.*" HAPAX_PATIENTLY
    "hapax._lease_once($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, " HAPAX_MOMENT(
        13) ", $14, $15) AS l";

// 2-13 arrays with an element per settlement, 14 how many may be superseded, 15 moment. Returns a
// character per settlement.
inline constexpr const char* kSettle =
    "SELECT s" HAPAX_PATIENTLY
    "hapax._settle($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, " HAPAX_MOMENT(
        15) ") AS s";

// 2 event, 3 delivery, 4 how many may be superseded, 5 moment.
inline constexpr const char* kCancel =
    "SELECT c" HAPAX_PATIENTLY "hapax._cancel_open($2, $3, $4, " HAPAX_MOMENT(5) ") AS c";

// 2 event, 3 delivery or NULL, 4 as new, 5 destination or NULL, 6 accept duplicates, 7 replay
// number, 8 the most deliveries of an event, 9 moment.
inline constexpr const char* kReplay =
    "SELECT r.status, r.deliveries" HAPAX_PATIENTLY
    "hapax._replay_open($2, $3, $4, $5, $6, $7, $8, " HAPAX_MOMENT(9) ") AS r";

// 2-6 after, until, limit, scan limit, dry; 7-14 filter; 15-19 as 4-8 of kReplay; 20 moment.
inline constexpr const char* kReplayStep =
    "SELECT r.events, r.deliveries, r.last, r.done" HAPAX_PATIENTLY
    "hapax._replay_step_open($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
    "$17,"
    " $18, $19, " HAPAX_MOMENT(20) ") AS r";

// The parts of retention. One statement each, so that locks are released after every part.
// 2-4 periods, 5 how long attempts are kept, 6 limit, 7 moment.
inline constexpr const char* kRetainEvents =
    "SELECT r.events, r.others, r.done" HAPAX_PATIENTLY
    "hapax._retain_events($2, $3, $4, $5, $6, " HAPAX_MOMENT(7) ") AS r";
// 2 how long attempts are kept, 3 limit, 4 moment.
inline constexpr const char* kRetainAttempts =
    "SELECT 0::bigint, r.others, r.done" HAPAX_PATIENTLY
    "hapax._retain_attempts($2, $3, " HAPAX_MOMENT(4) ") AS r";
// 2 limit, 3 moment.
inline constexpr const char* kRetainClaims =
    "SELECT 0::bigint, r.removed, r.done" HAPAX_PATIENTLY
    "hapax._retain_claims(2, $2, " HAPAX_MOMENT(3) ") AS r";
inline constexpr const char* kRetainLanes = "SELECT 0::bigint, r.removed, r.done" HAPAX_PATIENTLY
                                            "hapax._retain_lanes($2, " HAPAX_MOMENT(3) ") AS r";

// 2 kind, 3 owner or NULL, 4 and 5 the delivery to start after, 6 scan limit, 7 limit, 8 moment.
inline constexpr const char* kReleaseHolder =
    "SELECT r.released, r.last_event, r.last_delivery, r.done" HAPAX_PATIENTLY
    "hapax._release_holder($2, $3, $4, $5, $6, $7, " HAPAX_MOMENT(8) ") AS r";

// 2 numbers, 3 remember, 4 moment.
inline constexpr const char* kMoveMessages =
    "SELECT m.messages, m.more" HAPAX_PATIENTLY
    "hapax._move_messages($2, $3, " HAPAX_MOMENT(4) ") AS m";

// 2-11 as 1-10 of kEnqueue.
inline constexpr const char* kSend =
    "SELECT pg_catalog.uuid_send(s.message), s.duplicate, s.reused" HAPAX_PATIENTLY
    "hapax._send(pg_catalog.encode($2, 'hex')::pg_catalog.uuid, pg_catalog.convert_from($3, "
    "'UTF8'), $4, $5, $6, $7, $8, $9, $10,"
    " " HAPAX_MOMENT(11) ") AS s";

inline constexpr const char* kNumberOf =
    "SELECT hapax._number_of($1, pg_catalog.convert_from($2, 'UTF8'))";
inline constexpr const char* kNames =
    "SELECT number, pg_catalog.convert_to(name, 'UTF8') FROM hapax.name WHERE kind "
    "OPERATOR(pg_catalog.=) $1 ORDER BY number";
inline constexpr const char* kTakeNode = "SELECT hapax._take_node($1, $2, $3)";
inline constexpr const char* kLeaveNode = "SELECT hapax._leave_node($1, $2)";
inline constexpr const char* kSecret = "SELECT hapax._secret($1)";
inline constexpr const char* kPause = "SELECT hapax._pause($1, $2)";
inline constexpr const char* kPaused = "SELECT destination FROM hapax.pause ORDER BY destination";

// 2-7 arrays with an element per note, 8 the most variants.
inline constexpr const char* kNoteDuplicates =
    "SELECT n" HAPAX_PATIENTLY
    "hapax._note_duplicates($2, $3, $4, $5, $6, $7, CASE WHEN patience.ms OPERATOR(pg_catalog.<>) "
    "'' THEN $8 END) AS n";

// 1-13 arrays with an element per reject, 14-15 per source with dropped ones, 16 the most rejects
// of one source, 17 the most bytes of them. Returns how many were evicted.
inline constexpr const char* kAddRejects =
    "SELECT hapax._add_rejects($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
    " $16, $17)";
#define HAPAX_REJECT_ROW \
  "no, source, tenant, reason, detail, received_us, pg_catalog.octet_length(body), address"
// 1 source or NULL, 2 reason or NULL, 3 since, 4 until, 5 after, 6 before, 7 limit. Primary key, or
// reject_ring. The other conditions are checked row by row, over at most one ring per source.
#define HAPAX_REJECTS                                                                              \
  "SELECT " HAPAX_REJECT_ROW                                                                       \
  " FROM hapax.reject WHERE ($1::bigint IS NULL OR source OPERATOR(pg_catalog.=) $1) AND "         \
  "($2::pg_catalog.bytea IS NULL OR"                                                               \
  " reason OPERATOR(pg_catalog.=) $2) AND received_us OPERATOR(pg_catalog.>=) $3 AND received_us " \
  "OPERATOR(pg_catalog.<) $4 AND no OPERATOR(pg_catalog.>) $5 AND no OPERATOR(pg_catalog.<) $6 "   \
  "ORDER BY no "
inline constexpr const char* kRejects = HAPAX_REJECTS "DESC LIMIT $7";
inline constexpr const char* kOldestRejects = HAPAX_REJECTS "LIMIT $7";
inline constexpr const char* kReject = "SELECT " HAPAX_REJECT_ROW
                                       ", method, url, headers, proof, body FROM hapax.reject"
                                       " WHERE no OPERATOR(pg_catalog.=) $1";
inline constexpr const char* kRejectCounts =
    "SELECT coalesce(r.source, c.source), coalesce(r.kept, 0), coalesce(r.bytes, 0), "
    "coalesce(c.evicted, 0),"
    " coalesce(c.dropped, 0) FROM (SELECT source, pg_catalog.count(*) AS kept, "
    "pg_catalog.sum(size)::bigint AS bytes"
    " FROM hapax.reject GROUP BY source) AS r FULL JOIN hapax.reject_count AS c"
    " ON r.source OPERATOR(pg_catalog.=) c.source ORDER BY 1";
inline constexpr const char* kRemoveReject =
    "DELETE FROM hapax.reject WHERE no OPERATOR(pg_catalog.=) $1 RETURNING no";
// Rows are locked in order, so that concurrent removals cannot deadlock.
inline constexpr const char* kRemoveRejects =
    "DELETE FROM hapax.reject WHERE no OPERATOR(pg_catalog.=) ANY"
    " (SELECT no FROM hapax.reject WHERE no OPERATOR(pg_catalog.=) ANY ($1::bigint[]) ORDER BY no "
    "FOR UPDATE)";
#undef HAPAX_REJECTS
#undef HAPAX_REJECT_ROW

// A small table; by the primary key. kPutRecord: 2 version, 3 version before, 4 content, 5 the most
// records.
inline constexpr const char* kRecord =
    "SELECT name, version, content FROM hapax.record WHERE name OPERATOR(pg_catalog.=) $1";
inline constexpr const char* kRecords =
    "SELECT name, version, content FROM hapax.record WHERE name OPERATOR(pg_catalog.>=) $1 AND "
    "name OPERATOR(pg_catalog.<) $2 ORDER BY name";
inline constexpr const char* kPutRecord = "SELECT hapax._put_record($1, $2, $3, $4, $5)";
inline constexpr const char* kRemoveRecord = "SELECT hapax._remove_record($1, $2)";

// 1 keys, 2 moment. Returns the event of each key, or NULL, in order.
inline constexpr const char* kFind =
    "SELECT (SELECT c.event FROM hapax.claim AS c WHERE c.key OPERATOR(pg_catalog.=) w.key AND "
    "(c.expires_at OPERATOR(pg_catalog.>) now.at"
    " OR EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event OPERATOR(pg_catalog.=) c.event AND "
    "NOT q.listen"
    " AND (q.state OPERATOR(pg_catalog.<=) 1 OR q.blocks))))"
    " FROM (SELECT hapax._moment_ms($2) AS at) AS now,"
    " pg_catalog.unnest($1::pg_catalog.bytea[]) WITH ORDINALITY AS w (key, place) ORDER BY w.place";

// A page of events: 1 before, 2 scan limit, 3 limit + 1, 4-11 filter, 12 moment. Every row has the
// lowest number that was scanned and how many were; a row without an event has only these. Events
// with another status than completed have rows in the queue: a filter by such a status scans those.
#define HAPAX_PAGE(scanned, within)                                                               \
  "WITH now AS MATERIALIZED (SELECT hapax._moment_ms($12) AS at), scanned AS MATERIALIZED "       \
  "(" scanned                                                                                     \
  ") SELECT b.low, b.n, e.* FROM (SELECT pg_catalog.min(no) AS low, pg_catalog.count(*) AS n "    \
  "FROM scanned) AS b"                                                                            \
  " LEFT JOIN LATERAL (SELECT e.no, e.source, e.tenant, e.id, e.type, e.order_key, e.version,"    \
  " e.received_at, e.digest, pg_catalog.octet_length(e.body), e.would, hapax._status(e.no, "      \
  "now.at),"                                                                                      \
  " coalesce((SELECT d.count FROM hapax.duplicate AS d WHERE d.event OPERATOR(pg_catalog.=) "     \
  "e.no), 0)"                                                                                     \
  " FROM hapax.event AS e, now WHERE e.no OPERATOR(pg_catalog.>=) b.low AND e.no "                \
  "OPERATOR(pg_catalog.<) $1" within                                                              \
  " AND ($4::bigint IS NULL OR e.source OPERATOR(pg_catalog.=) $4) AND ($5::pg_catalog.bytea IS " \
  "NULL OR e.tenant OPERATOR(pg_catalog.=) $5)"                                                   \
  " AND ($6::pg_catalog.bytea IS NULL OR e.id OPERATOR(pg_catalog.=) $6) AND "                    \
  "($7::pg_catalog.bytea IS NULL OR e.type OPERATOR(pg_catalog.=) $7)"                            \
  " AND ($8::pg_catalog.bytea IS NULL OR e.order_key OPERATOR(pg_catalog.=) $8)"                  \
  " AND ($10::pg_catalog.timestamptz IS NULL OR e.received_at OPERATOR(pg_catalog.>=) $10)"       \
  " AND ($11::pg_catalog.timestamptz IS NULL OR e.received_at OPERATOR(pg_catalog.<) $11)"        \
  " AND ($9::bigint IS NULL OR hapax._status(e.no, now.at) OPERATOR(pg_catalog.=) $9)"            \
  " AND (e.no OPERATOR(pg_catalog.>>) 22) OPERATOR(pg_catalog./) 86400000"                        \
  " OPERATOR(pg_catalog.<>) ALL ((SELECT hapax._closed_days())::bigint[])"                        \
  " ORDER BY e.no DESC LIMIT $3) AS e ON true"
inline constexpr const char* kEvents = HAPAX_PAGE(
    "SELECT e.no FROM hapax.event AS e WHERE e.no OPERATOR(pg_catalog.<) $1 ORDER BY e.no DESC "
    "LIMIT $2",
    "");
inline constexpr const char* kUnfinishedEvents = HAPAX_PAGE(
    "SELECT DISTINCT q.event AS no FROM hapax.queue AS q WHERE q.event OPERATOR(pg_catalog.<) $1"
    " ORDER BY q.event DESC LIMIT $2",
    " AND e.no OPERATOR(pg_catalog.=) ANY (SELECT no FROM scanned)");

// One event with everything that belongs to it, in one snapshot: 1 event, 2 moment, 3 how many
// attempts. Each row has a kind (0 the event, 1 a delivery, 2 an attempt, 3 a variant, 4 no such
// event), 11 numbers, 3 times and 6 byte strings.
inline constexpr const char* kEvent =
    "WITH now AS MATERIALIZED (SELECT hapax._moment_ms($2) AS at),"
    " e AS MATERIALIZED (SELECT * FROM hapax.event WHERE no OPERATOR(pg_catalog.=) $1"
    " AND NOT hapax._is_closed($1))"
    " SELECT 0 AS kind, e.source::bigint AS n0, e.version AS n1, "
    "pg_catalog.octet_length(e.body)::bigint AS "
    "n2,"
    " e.would::bigint AS n3, hapax._status(e.no, now.at)::bigint AS n4,"
    " coalesce((SELECT d.count FROM hapax.duplicate AS d WHERE d.event OPERATOR(pg_catalog.=) "
    "e.no), 0) AS n5,"
    " NULL::bigint AS n6, NULL::bigint AS n7, NULL::bigint AS n8, NULL::bigint AS n9,"
    " NULL::bigint AS n10, e.received_at AS t0, NULL::pg_catalog.timestamptz AS t1, "
    "NULL::pg_catalog.timestamptz AS t2,"
    " e.tenant AS b0, e.id AS b1, e.type AS b2, e.order_key AS b3, e.digest AS b4, e.headers AS b5"
    " FROM e, now"
    " UNION ALL SELECT 1, q.delivery, q.destination,"
    " CASE WHEN q.state OPERATOR(pg_catalog.=) 0 THEN CASE WHEN q.holder_kind IS NOT NULL AND "
    "q.due_at OPERATOR(pg_catalog.>) now.at"
    " THEN 1 ELSE 0 END WHEN q.state OPERATOR(pg_catalog.=) 1 THEN 0"
    " WHEN q.state OPERATOR(pg_catalog.=) 2 THEN 3 WHEN q.state OPERATOR(pg_catalog.=) 3 THEN 5"
    " WHEN q.state OPERATOR(pg_catalog.=) 4 THEN 4 ELSE 2 END,"
    " q.reason, q.replay_of, q.attempts, q.abandons, (q.state OPERATOR(pg_catalog.=) 1)::int, "
    "q.blocks::int,"
    " q.holder_kind, q.holder, q.ended_at, CASE WHEN q.state OPERATOR(pg_catalog.=) 0 THEN "
    "q.due_at END,"
    " q.first_sent_at, NULL, NULL, NULL, NULL, NULL, NULL"
    " FROM e JOIN hapax.queue AS q ON q.event OPERATOR(pg_catalog.=) e.no, now"
    " UNION ALL SELECT 1, a.delivery, a.destination, 2, 0, NULL, 0, 0, 0, 0, NULL, NULL,"
    " a.settled_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    " FROM e JOIN hapax.attempt AS a ON a.event OPERATOR(pg_catalog.=) $1 AND a.outcome "
    "OPERATOR(pg_catalog.=) 0"
    " WHERE NOT EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event OPERATOR(pg_catalog.=) e.no"
    " AND q.delivery OPERATOR(pg_catalog.=) a.delivery)"
    " UNION ALL (SELECT 2, a.delivery, a.fence, a.outcome, a.began_us, a.took_ms, a.status, NULL,"
    " NULL, NULL, NULL, NULL, a.settled_at, NULL, NULL, a.error, a.excerpt, NULL, NULL, NULL, NULL"
    " FROM e JOIN hapax.attempt AS a ON a.event OPERATOR(pg_catalog.=) $1 ORDER BY a.fence DESC "
    "LIMIT $3)"
    " UNION ALL SELECT 3, v.n, v.at_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
    " NULL, NULL, v.digest, NULL, NULL, NULL, NULL, NULL"
    " FROM e JOIN hapax.variant AS v ON v.event OPERATOR(pg_catalog.=) e.no"
    " UNION ALL SELECT 4, hapax._missing($1), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
    " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM e)"
    " ORDER BY 1, 2, 3";

// 1 event. If there is no such event: NULL, and 1 gone or 2 absent.
inline constexpr const char* kBody =
    "SELECT (SELECT e.body FROM hapax.event AS e WHERE e.no OPERATOR(pg_catalog.=) $1"
    " AND NOT hapax._is_closed($1)), hapax._missing($1)";
inline constexpr const char* kLastVariant =
    "SELECT (SELECT v.body FROM hapax.variant AS v WHERE v.event OPERATOR(pg_catalog.=) $1"
    " AND v.body IS NOT NULL AND NOT hapax._is_closed($1)),"
    " CASE WHEN EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no OPERATOR(pg_catalog.=) $1"
    " AND NOT hapax._is_closed($1)) THEN 2"
    " ELSE hapax._missing($1) END";

// 1 moment. Returns destinations, then sources.
inline constexpr const char* kStats =
    "WITH now AS MATERIALIZED (SELECT hapax._moment_ms($1) AS at)"
    " SELECT 0, q.destination, pg_catalog.count(*) FILTER (WHERE q.state OPERATOR(pg_catalog.=) 1 "
    "OR (q.state OPERATOR(pg_catalog.=) 0"
    " AND NOT (q.holder_kind IS NOT NULL AND q.due_at OPERATOR(pg_catalog.>) now.at))),"
    " pg_catalog.count(*) FILTER (WHERE q.state OPERATOR(pg_catalog.=) 0 AND q.holder_kind IS NOT "
    "NULL AND q.due_at OPERATOR(pg_catalog.>) now.at),"
    " pg_catalog.count(*) FILTER (WHERE q.state OPERATOR(pg_catalog.=) 2), pg_catalog.count(*) "
    "FILTER (WHERE q.state OPERATOR(pg_catalog.=) 4),"
    " pg_catalog.count(*) FILTER (WHERE q.state OPERATOR(pg_catalog.=) 3), "
    "pg_catalog.min(q.due_at) FILTER (WHERE q.state OPERATOR(pg_catalog.=) 0)"
    " FROM hapax.queue AS q, now WHERE q.state OPERATOR(pg_catalog.<) 5 GROUP BY q.destination"
    " UNION ALL SELECT 1, s.source, 0, 0, 0, 0, 0, s.at FROM hapax.seen AS s ORDER BY 1, 2";

#undef HAPAX_PAGE
#undef HAPAX_MOMENT
#undef HAPAX_PATIENTLY

}  // namespace hapax::store::postgres
