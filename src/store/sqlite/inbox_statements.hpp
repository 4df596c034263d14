// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

// Every statement of the inbox, by name, with the index it uses. Statements that write run inside a
// write transaction (BEGIN IMMEDIATE), so that data read by one cannot change before the next;
// statements for display run on a snapshot of their own (reader.hpp). The tables and the numbers in
// them are explained in schema.cpp and queue.hpp.
namespace hapax::store::sqlite {

// The columns of read_delivery() in queue.cpp, in its order.
#define HAPAX_DELIVERY                                                                      \
  "event, delivery, destination, state, due_ms, attempts, abandons, flags, fence, holder, " \
  "owner, first_sent_ms, lane, lane_seq, version, replay_of, replay_no, reason"

// A multi-row insert costs half as much per row as a single-row one. OR FAIL, because a statement
// that can be undone without the whole transaction keeps a copy of every page that it changes, in a
// temporary file if there are many.
inline constexpr std::size_t kRowsOfStatement = 8;
#define HAPAX_ROWS(row) row "," row "," row "," row "," row "," row "," row "," row

// ---------------------------------------------------------------------------------------------
// Admit.

// The claim of an id that is not in the log. Primary key.
inline constexpr std::string_view kReadEventClaim =
    "SELECT event, expires_ms FROM hapax_event_id WHERE key = ?1";
// Adds a claim that is new in the index; otherwise changes nothing. Primary key. 1 key, 2 event,
// 3 expires.
inline constexpr std::string_view kIndexNewEventClaim =
    "INSERT INTO hapax_event_id(key, event, expires_ms) VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING";
// Replaces a claim by a newer one from the log. Primary key. The same parameters.
inline constexpr std::string_view kReindexEventClaim =
    "UPDATE hapax_event_id SET event = ?2, expires_ms = ?3 WHERE key = ?1";
// As kIndexNewEventClaim, for several claims. Per row: key, event, expires.
inline constexpr std::string_view kIndexNewEventClaims =
    "INSERT OR FAIL INTO hapax_event_id(key, event, expires_ms) VALUES" HAPAX_ROWS(
        "(?, ?, ?)") " ON CONFLICT DO NOTHING";
// When the event that took over an id was received. Row id.
inline constexpr std::string_view kReadReceived =
    "SELECT received_ms FROM hapax_event WHERE no = ?1";
// A one-row table. 1 event, 2 other.
inline constexpr std::string_view kNoteDoubleClaim =
    "UPDATE hapax_claim_fault SET doubled = doubled + 1, event = ?1, other = ?2 WHERE one = 1";
inline constexpr std::string_view kReadClaimFaults =
    "SELECT doubled, event, other FROM hapax_claim_fault WHERE one = 1";
// The log of claims: see claim_index.hpp. Row id.
inline constexpr std::string_view kEndOfRecent =
    "SELECT (SELECT seq FROM hapax_recent ORDER BY seq DESC LIMIT 1),"
    " (SELECT mark FROM hapax_recent WHERE seq = ?1)";
inline constexpr std::string_view kRecentAfter =
    "SELECT seq, mark, turn, moved, claims FROM hapax_recent WHERE seq > ?1 ORDER BY seq";
inline constexpr std::string_view kFirstRecent =
    "SELECT seq, turn, claims FROM hapax_recent ORDER BY seq LIMIT 1";
inline constexpr std::string_view kAppendRecent =
    "INSERT INTO hapax_recent(seq, mark, turn, moved, claims) VALUES(?1, ?2, ?3, ?4, ?5)";
inline constexpr std::string_view kRemoveRecent = "DELETE FROM hapax_recent WHERE seq = ?1";

// Whether an event has unfinished deliveries, and so keeps its claim and its bytes. Prefix of the
// primary key.
inline constexpr std::string_view kEventIsHeld =
    "SELECT 1 FROM hapax_queue WHERE event = ?1 AND state IN (0, 1, 5) AND flags & 1 = 0 LIMIT 1";

// Changes no row if the number is taken. Row id.
inline constexpr std::string_view kInsertEvent =
    "INSERT INTO hapax_event(no, source, received_ms, would, version, tenant, id, type, order_key,"
    " digest, headers, body) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    " ON CONFLICT DO NOTHING";
// The columns that distinguish two events with the same number. Row id.
inline constexpr std::string_view kReadOrigin =
    "SELECT source, would, tenant, id, digest FROM hapax_event WHERE no = ?1";
inline constexpr std::string_view kReadDigest = "SELECT digest FROM hapax_event WHERE no = ?1";

// Open deliveries outside lanes, the common case. Per row: event, delivery, destination, due,
// flags.
#define HAPAX_INTO_QUEUE                                                                    \
  "INSERT OR FAIL INTO hapax_queue(event, delivery, destination, state, due_ms, attempts, " \
  "abandons,"                                                                               \
  " flags) VALUES"
#define HAPAX_OPEN "(?, ?, ?, 0, ?, 0, 0, ?)"
inline constexpr std::string_view kInsertOpenDelivery = HAPAX_INTO_QUEUE HAPAX_OPEN;
inline constexpr std::string_view kInsertOpenDeliveries = HAPAX_INTO_QUEUE HAPAX_ROWS(HAPAX_OPEN);
// All other deliveries. 1 to 5 as above, 6 state, 7 lane, 8 position in it, 9 version, 10 replay
// of, 11 replay number.
inline constexpr std::string_view kInsertDelivery =
    "INSERT INTO hapax_queue(event, delivery, destination, state, due_ms, attempts, abandons, "
    "flags,"
    " lane, lane_seq, version, replay_of, replay_no)"
    " VALUES(?1, ?2, ?3, ?6, ?4, 0, 0, ?5, ?7, ?8, ?9, ?10, ?11)";

// 1 source, 2 now.
inline constexpr std::string_view kNoteSeen =
    "INSERT INTO hapax_seen(source, at_ms) VALUES(?1, ?2)"
    " ON CONFLICT(source) DO UPDATE SET at_ms = max(at_ms, ?2)";

// ---------------------------------------------------------------------------------------------
// Lease and settle.

// Due deliveries, in the order in which they are leased. The index holds open deliveries only, so
// that neither waiting nor ended ones cost anything here. 1 destination, 2 now, 3 limit.
inline constexpr std::string_view kDue = "SELECT " HAPAX_DELIVERY
                                         " FROM hapax_queue INDEXED BY hapax_queue_due"
                                         " WHERE destination = ?1 AND state = 0 AND due_ms <= ?2"
                                         " ORDER BY due_ms, event, delivery LIMIT ?3";
// Does not change `state`, so that only the index of due deliveries is updated. Primary key.
// 1 event, 2 delivery, 3 until, 4 fence, 5 holder, 6 owner, 7 abandons, 8 flags, 9 first sent.
inline constexpr std::string_view kLease =
    "UPDATE hapax_queue SET due_ms = ?3, fence = ?4, holder = ?5, owner = ?6, abandons = ?7,"
    " flags = ?8, first_sent_ms = ?9 WHERE event = ?1 AND delivery = ?2";
inline constexpr std::string_view kRenew =
    "UPDATE hapax_queue SET due_ms = ?3 WHERE event = ?1 AND delivery = ?2";
// The event as delivered to its handler. Row id.
inline constexpr std::string_view kReadForHandler =
    "SELECT source, tenant, id, type, headers, body, received_ms, would FROM hapax_event"
    " WHERE no = ?1";
inline constexpr std::string_view kIsPaused = "SELECT 1 FROM hapax_pause WHERE destination = ?1";

// Primary key.
inline constexpr std::string_view kReadDelivery =
    "SELECT " HAPAX_DELIVERY " FROM hapax_queue WHERE event = ?1 AND delivery = ?2";
// Prefix of the primary key, which is also the order.
inline constexpr std::string_view kDeliveriesOf =
    "SELECT " HAPAX_DELIVERY " FROM hapax_queue WHERE event = ?1 ORDER BY delivery";
// Any transition other than a lease: clears fence and holder, so that no settlement matches any
// more. Primary key. 1 event, 2 delivery, 3 state, 4 due or ended, 5 attempts, 6 abandons, 7 flags,
// 8 first sent, 9 replay, 10 reason.
inline constexpr std::string_view kWriteDelivery =
    "UPDATE hapax_queue SET state = ?3, due_ms = ?4, attempts = ?5, abandons = ?6, flags = ?7,"
    " fence = NULL, holder = NULL, owner = NULL, first_sent_ms = ?8, replay_no = ?9, reason = ?10"
    " WHERE event = ?1 AND delivery = ?2";
inline constexpr std::string_view kRemoveDelivery =
    "DELETE FROM hapax_queue WHERE event = ?1 AND delivery = ?2";

// Records the attempt of a current lease: the columns of the delivery are copied from its row, and
// no row is added if the fence does not match. Primary key. 1 event, 2 delivery, 3 fence,
// 4 outcome, 5 now, 6 began, 7 took, 8 status, 9 error, 10 excerpt.
inline constexpr std::string_view kRecordAttempt =
    "INSERT OR IGNORE INTO hapax_attempt(event, delivery, fence, destination, outcome, settled_ms, "
    "began_us,"
    " took_ms, status, error, excerpt, listen, replay_of, replay_no)"
    " SELECT event, delivery, fence, destination, ?4, ?5, ?6, ?7, ?8, ?9, ?10, flags & 1, "
    "replay_of,"
    " replay_no FROM hapax_queue WHERE event = ?1 AND delivery = ?2 AND fence = ?3";
// Completes a delivery outside lanes, the common case. Primary key.
inline constexpr std::string_view kCompleteOutsideLanes =
    "DELETE FROM hapax_queue WHERE event = ?1 AND delivery = ?2 AND lane IS NULL";
// Primary key.
inline constexpr std::string_view kReadAttempt =
    "SELECT outcome FROM hapax_attempt WHERE event = ?1 AND delivery = ?2 AND fence = ?3";
// Whether a delivery exists or existed. Both primary keys.
inline constexpr std::string_view kIsKnown =
    "SELECT EXISTS(SELECT 1 FROM hapax_queue WHERE event = ?1 AND delivery = ?2)"
    " OR EXISTS(SELECT 1 FROM hapax_attempt WHERE event = ?1 AND delivery = ?2)";
// The completed deliveries of an event, which have no row in the queue. Attempts outlive their
// event, so attempts older than the event belong to an earlier one with the same number. Prefix of
// the primary key, and row id.
inline constexpr std::string_view kCompletedOf =
    "SELECT delivery, destination, settled_ms, listen, replay_of, replay_no FROM hapax_attempt"
    " WHERE event = ?1 AND outcome = 0"
    " AND settled_ms >= (SELECT received_ms FROM hapax_event WHERE no = ?1) ORDER BY delivery";

// Leases of one holder, or if ?2 is NULL of all of its kind, by number. Walks the index of open
// deliveries: it runs when a server starts. 1 kind, 2 owner, 3 limit.
inline constexpr std::string_view kHeldBy =
    "SELECT " HAPAX_DELIVERY
    " FROM hapax_queue INDEXED BY hapax_queue_due"
    " WHERE state = 0 AND holder = ?1 AND (?2 IS NULL OR owner = ?2)"
    " ORDER BY event, delivery LIMIT ?3";

// ---------------------------------------------------------------------------------------------
// Lanes.

// Primary key.
inline constexpr std::string_view kReadLane =
    "SELECT head_event, head_delivery, version, version_until_ms, remember_ms FROM hapax_lane"
    " WHERE destination = ?1 AND key = ?2";
inline constexpr std::string_view kInsertLane =
    "INSERT INTO hapax_lane(destination, key, head_event, head_delivery, version, version_until_ms,"
    " remember_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";
inline constexpr std::string_view kUpdateLane =
    "UPDATE hapax_lane SET head_event = ?3, head_delivery = ?4, version = ?5,"
    " version_until_ms = ?6, remember_ms = ?7 WHERE destination = ?1 AND key = ?2";
inline constexpr std::string_view kRemoveLane =
    "DELETE FROM hapax_lane WHERE destination = ?1 AND key = ?2";
// The next delivery of a lane. SQLite uses a partial index only for a query that repeats the
// index's condition, hence state <> 0.
inline constexpr std::string_view kFirstWaiting =
    "SELECT " HAPAX_DELIVERY
    " FROM hapax_queue INDEXED BY hapax_queue_rest"
    " WHERE destination = ?1 AND state = 1 AND state <> 0 AND lane = ?2 ORDER BY lane_seq LIMIT 1";

// Fences: see fences.hpp. A one-row table.
inline constexpr std::string_view kReadFence = "SELECT last FROM hapax_fence WHERE one = 1";
inline constexpr std::string_view kWriteFence = "UPDATE hapax_fence SET last = ?1 WHERE one = 1";

// ---------------------------------------------------------------------------------------------
// Reading.

// The columns of an event that Listing reads, in its order. The body is not read: its length is in
// the record header.
#define HAPAX_EVENT_ROW \
  "no, source, received_ms, would, version, tenant, id, type, order_key, digest, length(body)"

// Row id, in both directions. 1 exclusive start, 2 (up) inclusive end.
inline constexpr std::string_view kEventsDown =
    "SELECT " HAPAX_EVENT_ROW " FROM hapax_event WHERE no < ?1 ORDER BY no DESC";
inline constexpr std::string_view kEventsUp =
    "SELECT " HAPAX_EVENT_ROW " FROM hapax_event WHERE no > ?1 AND no <= ?2 ORDER BY no";
// Events with a delivery that is not completed. A listing by such a status scans only these,
// however many events there are. Primary key.
inline constexpr std::string_view kUnfinishedDown =
    "SELECT DISTINCT event FROM hapax_queue WHERE event < ?1 ORDER BY event DESC";
inline constexpr std::string_view kUnfinishedUp =
    "SELECT DISTINCT event FROM hapax_queue WHERE event > ?1 AND event <= ?2 ORDER BY event";
inline constexpr std::string_view kEventRow =
    "SELECT " HAPAX_EVENT_ROW " FROM hapax_event WHERE no = ?1";
// Prefix of the primary key.
inline constexpr std::string_view kStatesOf =
    "SELECT state, due_ms, holder FROM hapax_queue WHERE event = ?1";
inline constexpr std::string_view kReadDuplicates =
    "SELECT count FROM hapax_duplicate WHERE event = ?1";
inline constexpr std::string_view kReadHeaders = "SELECT headers FROM hapax_event WHERE no = ?1";
inline constexpr std::string_view kReadBody = "SELECT body FROM hapax_event WHERE no = ?1";
inline constexpr std::string_view kReadVariants =
    "SELECT digest, at_us FROM hapax_variant WHERE event = ?1 ORDER BY n";
inline constexpr std::string_view kReadLastVariant =
    "SELECT body FROM hapax_variant WHERE event = ?1 ORDER BY n DESC LIMIT 1";
// The latest attempts. Prefix of the primary key; sorts the attempts of one event.
inline constexpr std::string_view kAttemptsOf =
    "SELECT delivery, fence, outcome, settled_ms, began_us, took_ms, status, error, excerpt"
    " FROM hapax_attempt WHERE event = ?1 ORDER BY fence DESC, delivery DESC LIMIT ?2";

// Stats, each from a covering index.
inline constexpr std::string_view kCountOpen =
    "SELECT destination, count(*), min(due_ms) FROM hapax_queue INDEXED BY hapax_queue_due"
    " WHERE state = 0 GROUP BY destination";
inline constexpr std::string_view kCountLeased =
    "SELECT count(*) FROM hapax_queue INDEXED BY hapax_queue_due"
    " WHERE destination = ?1 AND state = 0 AND due_ms > ?2 AND holder IS NOT NULL";
inline constexpr std::string_view kCountRest =
    "SELECT destination, state, count(*) FROM hapax_queue INDEXED BY hapax_queue_rest"
    " WHERE state <> 0 GROUP BY destination, state";
inline constexpr std::string_view kReadSeen =
    "SELECT source, at_ms FROM hapax_seen ORDER BY source";

// ---------------------------------------------------------------------------------------------
// Retention.

inline constexpr std::string_view kReadSweep =
    "SELECT phase, event, attempt_event, attempt_delivery, claim, lane_destination, lane_key, floor"
    " FROM hapax_sweep WHERE one = 1";
inline constexpr std::string_view kWriteSweep =
    "UPDATE hapax_sweep SET phase = ?1, event = ?2, attempt_event = ?3, attempt_delivery = ?4,"
    " claim = ?5, lane_destination = ?6, lane_key = ?7, floor = ?8 WHERE one = 1";
inline constexpr std::string_view kReadFloor = "SELECT floor FROM hapax_sweep WHERE one = 1";
// Row id. 1 after, 2 limit.
inline constexpr std::string_view kSweepEvents =
    "SELECT no, source, received_ms FROM hapax_event WHERE no > ?1 ORDER BY no LIMIT ?2";
inline constexpr std::string_view kHasEvent = "SELECT 1 FROM hapax_event WHERE no = ?1";
// When the last delivery was completed, except `listen` ones. Prefix of the primary key.
inline constexpr std::string_view kLastCompleted =
    "SELECT max(settled_ms) FROM hapax_attempt WHERE event = ?1 AND outcome = 0 AND listen = 0";
inline constexpr std::string_view kRemoveEvent = "DELETE FROM hapax_event WHERE no = ?1";
inline constexpr std::string_view kRemoveDeliveriesOf = "DELETE FROM hapax_queue WHERE event = ?1";
inline constexpr std::string_view kRemoveVariantsOf = "DELETE FROM hapax_variant WHERE event = ?1";
inline constexpr std::string_view kRemoveDuplicatesOf =
    "DELETE FROM hapax_duplicate WHERE event = ?1";
// Grouped by delivery. Above the floor every attempt still has its event. Primary key. 1 event,
// 2 delivery, 3 floor, 4 limit.
inline constexpr std::string_view kSweepAttempts =
    "SELECT event, delivery, max(settled_ms), count(*) FROM hapax_attempt"
    " WHERE (event, delivery) > (?1, ?2) AND event <= ?3"
    " GROUP BY event, delivery ORDER BY event, delivery LIMIT ?4";
inline constexpr std::string_view kRemoveAttemptsOf =
    "DELETE FROM hapax_attempt WHERE event = ?1 AND delivery = ?2";
// Primary key. 1 after, 2 limit.
inline constexpr std::string_view kSweepClaims =
    "SELECT key, event, expires_ms FROM hapax_event_id WHERE key > ?1 ORDER BY key LIMIT ?2";
inline constexpr std::string_view kRemoveEventClaim = "DELETE FROM hapax_event_id WHERE key = ?1";
// Primary key. 1 destination, 2 key, 3 limit.
inline constexpr std::string_view kSweepLanes =
    "SELECT destination, key, head_event, version, version_until_ms FROM hapax_lane"
    " WHERE (destination, key) > (?1, ?2) ORDER BY destination, key LIMIT ?3";

// ---------------------------------------------------------------------------------------------
// Duplicates, rejects, names and other small tables, accessed by their keys.

inline constexpr std::string_view kAddDuplicates =
    "INSERT INTO hapax_duplicate(event, count) VALUES(?1, ?2)"
    " ON CONFLICT(event) DO UPDATE SET count = count + ?2";
inline constexpr std::string_view kInsertVariant =
    "INSERT INTO hapax_variant(event, n, digest, at_us, body) VALUES(?1, ?2, ?3, ?4, ?5)";
inline constexpr std::string_view kForgetVariantBody =
    "UPDATE hapax_variant SET body = NULL WHERE event = ?1 AND n = ?2";

inline constexpr std::string_view kInsertReject =
    "INSERT INTO hapax_reject(no, source, size, received_us, address, tenant, reason, detail,"
    " method, url, headers, proof, body)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT DO NOTHING";
// Both use only hapax_reject_ring, as a covering index.
inline constexpr std::string_view kRejectTotals =
    "SELECT count(*), coalesce(sum(size), 0) FROM hapax_reject WHERE source = ?1";
inline constexpr std::string_view kHeldRejects =
    "SELECT no, address, size FROM hapax_reject WHERE source = ?1 ORDER BY no";
#define HAPAX_REJECT_ROW "no, source, tenant, reason, detail, received_us, length(body), address"
// 1 reason or NULL, 2 since, 3 until, 4 after, 5 before, 6 limit, 7 source. Primary key, or
// hapax_reject_ring. The other conditions are checked row by row, over at most one ring per source.
#define HAPAX_REJECTS(order)                                                                    \
  "SELECT " HAPAX_REJECT_ROW                                                                    \
  " FROM hapax_reject WHERE (?1 IS NULL OR reason = ?1) AND received_us >= ?2 AND received_us " \
  "< ?3 AND no > ?4 AND no < ?5 ORDER BY no " order " LIMIT ?6"
#define HAPAX_REJECTS_OF(order)                                                              \
  "SELECT " HAPAX_REJECT_ROW                                                                 \
  " FROM hapax_reject WHERE source = ?7 AND (?1 IS NULL OR reason = ?1) AND received_us >= " \
  "?2 AND received_us < ?3 AND no > ?4 AND no < ?5 ORDER BY no " order " LIMIT ?6"
inline constexpr std::string_view kRejects = HAPAX_REJECTS("DESC");
inline constexpr std::string_view kOldestRejects = HAPAX_REJECTS("ASC");
inline constexpr std::string_view kRejectsOf = HAPAX_REJECTS_OF("DESC");
inline constexpr std::string_view kOldestRejectsOf = HAPAX_REJECTS_OF("ASC");
inline constexpr std::string_view kReadReject =
    "SELECT " HAPAX_REJECT_ROW
    ", method, url, headers, proof, body FROM hapax_reject WHERE no = ?1";
inline constexpr std::string_view kRemoveReject = "DELETE FROM hapax_reject WHERE no = ?1";
inline constexpr std::string_view kCountRejects =
    "INSERT INTO hapax_reject_count(source, evicted, dropped) VALUES(?1, ?2, ?3)"
    " ON CONFLICT(source) DO UPDATE SET evicted = evicted + ?2, dropped = dropped + ?3";
inline constexpr std::string_view kRejectCounts =
    "SELECT source, sum(kept), sum(bytes), sum(evicted), sum(dropped) FROM"
    " (SELECT source, count(*) AS kept, sum(size) AS bytes, 0 AS evicted, 0 AS dropped"
    " FROM hapax_reject GROUP BY source"
    " UNION ALL SELECT source, 0, 0, evicted, dropped FROM hapax_reject_count)"
    " GROUP BY source ORDER BY source";

inline constexpr std::string_view kReadName =
    "SELECT no FROM hapax_name WHERE kind = ?1 AND name = ?2";
inline constexpr std::string_view kInsertName =
    "INSERT INTO hapax_name(kind, no, name) VALUES(?1,"
    " (SELECT coalesce(max(no), 0) + 1 FROM hapax_name WHERE kind = ?1), ?2) RETURNING no";
inline constexpr std::string_view kNames =
    "SELECT no, name FROM hapax_name WHERE kind = ?1 ORDER BY no";

inline constexpr std::string_view kReadNode = "SELECT no FROM hapax_node WHERE owner = ?1";
// An unused number: numbers are assigned in order, and their rows are kept. 1 how many numbers
// exist.
inline constexpr std::string_view kUnusedNode =
    "SELECT count(*) FROM hapax_node HAVING count(*) < ?1";
inline constexpr std::string_view kExpiredNode =
    "SELECT no FROM hapax_node WHERE until_ms <= ?1 ORDER BY until_ms, no LIMIT 1";
inline constexpr std::string_view kWriteNode =
    "INSERT INTO hapax_node(no, owner, until_ms) VALUES(?1, ?2, ?3)"
    " ON CONFLICT(no) DO UPDATE SET owner = ?2, until_ms = ?3";
inline constexpr std::string_view kLeaveNode =
    "UPDATE hapax_node SET owner = x'', until_ms = min(until_ms, ?2) WHERE owner = ?1";

inline constexpr std::string_view kProposeSecret =
    "INSERT INTO hapax_secret(one, bytes) VALUES(1, ?1) ON CONFLICT DO NOTHING";
inline constexpr std::string_view kReadSecret = "SELECT bytes FROM hapax_secret WHERE one = 1";

inline constexpr std::string_view kPause =
    "INSERT INTO hapax_pause(destination) VALUES(?1) ON CONFLICT DO NOTHING";
inline constexpr std::string_view kResume = "DELETE FROM hapax_pause WHERE destination = ?1";
inline constexpr std::string_view kPaused =
    "SELECT destination FROM hapax_pause ORDER BY destination";

// ---------------------------------------------------------------------------------------------
// Records, a small table. Primary key.
inline constexpr std::string_view kReadRecord =
    "SELECT name, version, content FROM hapax_record WHERE name = ?1";
inline constexpr std::string_view kRecords =
    "SELECT name, version, content FROM hapax_record WHERE name >= ?1 AND name < ?2 ORDER BY name";
inline constexpr std::string_view kCountRecords = "SELECT count(*) FROM hapax_record";
inline constexpr std::string_view kWriteRecord =
    "INSERT OR REPLACE INTO hapax_record(name, version, content) VALUES(?1, ?2, ?3)";
inline constexpr std::string_view kRemoveRecord = "DELETE FROM hapax_record WHERE name = ?1";

// ---------------------------------------------------------------------------------------------
// Outbox messages. Scanned from the start, never from a cursor, which would miss a message
// committed after another with a higher number. Row id.
inline constexpr std::string_view kFirstMessage =
    "SELECT no, id, destination, order_key, headers, payload FROM hapax_message"
    " ORDER BY no LIMIT 1";
inline constexpr std::string_view kRemoveMessage = "DELETE FROM hapax_message WHERE no = ?1";
inline constexpr std::string_view kHasMessages = "SELECT EXISTS(SELECT 1 FROM hapax_message)";
// A full scan, only after a failed commit.
inline constexpr std::string_view kFindMessage = "SELECT 1 FROM hapax_message WHERE id = ?1";

// The statements that run for every event, delivery or attempt. A test checks their query plans: no
// table scan, no sort.
inline constexpr std::array kHotStatements{
    kReadEventClaim,
    kIndexNewEventClaim,
    kReindexEventClaim,
    kReadReceived,
    kIndexNewEventClaims,
    kRecentAfter,
    kAppendRecent,
    kRemoveRecent,
    kEventIsHeld,
    kInsertEvent,
    kReadOrigin,
    kReadDigest,
    kNoteSeen,
    kInsertOpenDelivery,
    kInsertOpenDeliveries,
    kInsertDelivery,
    kDue,
    kLease,
    kRenew,
    kReadForHandler,
    kIsPaused,
    kReadDelivery,
    kDeliveriesOf,
    kWriteDelivery,
    kRemoveDelivery,
    kRecordAttempt,
    kCompleteOutsideLanes,
    kReadAttempt,
    kIsKnown,
    kCompletedOf,
    kReadLane,
    kInsertLane,
    kUpdateLane,
    kRemoveLane,
    kFirstWaiting,
    kReadFence,
    kWriteFence,
    kEventsDown,
    kEventsUp,
    kUnfinishedDown,
    kUnfinishedUp,
    kEventRow,
    kStatesOf,
    kReadDuplicates,
    kSweepEvents,
    kLastCompleted,
    kRemoveEvent,
    kSweepAttempts,
    kSweepClaims,
    kSweepLanes,
    kRemoveDeliveriesOf,
    kRemoveVariantsOf,
    kRemoveAttemptsOf,
    kRemoveEventClaim,
    kRemoveDuplicatesOf,
    kReadBody,
    kReadHeaders,
};

#undef HAPAX_DELIVERY
#undef HAPAX_EVENT_ROW
#undef HAPAX_INTO_QUEUE
#undef HAPAX_OPEN
#undef HAPAX_REJECT_ROW
#undef HAPAX_REJECTS
#undef HAPAX_REJECTS_OF
#undef HAPAX_ROWS

}  // namespace hapax::store::sqlite
