// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/schema.hpp"

#include "base/try.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite/file/connection.hpp"

#include <array>
#include <string>

namespace hapax::store::sqlite {

namespace {

// Forward only: a migration that has been released is never changed, only followed by another. The
// tables stand in the caller's own database, hence the prefix.
constexpr std::array<const char*, 7> kMigrations{
    // 1: claims, outbox, time.
    R"sql(
    CREATE TABLE hapax_claim(
      key        BLOB NOT NULL PRIMARY KEY,  -- see base/claim_key.hpp
      token      BLOB NOT NULL,              -- whose claim: 16 bytes
      expires_ms INTEGER NOT NULL,           -- store time; over when now >= expires_ms
      result     BLOB                        -- what once() stored, or the digest of a message
    ) WITHOUT ROWID;

    CREATE TABLE hapax_message(
      no          INTEGER PRIMARY KEY,
      id          BLOB NOT NULL,             -- 16 bytes, made before the insert
      destination TEXT NOT NULL,
      key         BLOB,
      order_key   BLOB,
      headers     BLOB NOT NULL,
      payload     BLOB NOT NULL,
      created_ms  INTEGER NOT NULL
    );

    CREATE TABLE hapax_clock(
      one      INTEGER PRIMARY KEY CHECK (one = 1),
      boot_id  TEXT NOT NULL,
      boot_ms  INTEGER NOT NULL,
      store_ms INTEGER NOT NULL,
      last_ms  INTEGER NOT NULL
    );
    INSERT INTO hapax_clock VALUES(1, '', 0, 0, 0);

    CREATE TABLE hapax_purge(
      one   INTEGER PRIMARY KEY CHECK (one = 1),
      after BLOB NOT NULL
    );
    INSERT INTO hapax_purge VALUES(1, x'');
    )sql",

    // 2: the inbox. Times are the store's own, but for those that end in _us, which are others'.
    R"sql(
    CREATE TABLE hapax_name(                 -- of sources (kind 0) and destinations (1)
      kind INTEGER NOT NULL,
      no   INTEGER NOT NULL,
      name TEXT NOT NULL,
      PRIMARY KEY(kind, no)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX hapax_name_text ON hapax_name(kind, name);

    -- Apart from hapax_claim: narrower rows, and no claim of an event can go before its event.
    CREATE TABLE hapax_event_claim(
      key        BLOB NOT NULL PRIMARY KEY,  -- see event_claim_key()
      event      INTEGER NOT NULL,
      expires_ms INTEGER NOT NULL
    ) WITHOUT ROWID;

    -- Written once, never updated. What is short stands first, so that a listing reads no bytes.
    CREATE TABLE hapax_event(
      no          INTEGER PRIMARY KEY,
      source      INTEGER NOT NULL,
      received_ms INTEGER NOT NULL,
      would       INTEGER NOT NULL,
      version     INTEGER,
      key_id      INTEGER,                   -- kept free: what the bytes are encrypted with
      tenant      BLOB NOT NULL,
      id          BLOB NOT NULL,
      type        BLOB NOT NULL,
      order_key   BLOB NOT NULL,
      digest      BLOB NOT NULL,
      headers     BLOB NOT NULL,
      body        BLOB NOT NULL
    );

    -- Deliveries, but for completed ones: those are the attempts with outcome 0.
    CREATE TABLE hapax_queue(
      event         INTEGER NOT NULL,
      delivery      INTEGER NOT NULL,
      destination   INTEGER NOT NULL,
      state         INTEGER NOT NULL,        -- 0 open, 1 waiting in its lane, 2 dead, 3 cancelled,
                                             -- 4 superseded, 5 dead and blocking its lane
      due_ms        INTEGER NOT NULL,        -- 0, 1: when it may be leased; 2 to 5: when it ended
      attempts      INTEGER NOT NULL,
      abandons      INTEGER NOT NULL,
      flags         INTEGER NOT NULL,        -- see queue.cpp; 1 is a listen destination
      fence         INTEGER,                 -- of its lease, also when that is past its time;
      holder        INTEGER,                 -- NULL: nobody's, so no settlement matches
      owner         INTEGER,
      first_sent_ms INTEGER,
      lane          BLOB,                    -- see lane_key()
      lane_seq      INTEGER,                 -- its place in the lane
      version       INTEGER,
      replay_of     INTEGER,
      replay_no     INTEGER,
      reason        INTEGER,
      PRIMARY KEY(event, delivery)
    ) WITHOUT ROWID;
    -- What is open, and the rest: no backlog of one kind slows the others down. Not one index for
    -- those that wait and another for those that ended: every insert opens them all. What stands
    -- behind the order of the first is there to be counted without a look at the row.
    CREATE INDEX hapax_queue_due
      ON hapax_queue(destination, due_ms, event, delivery, state, holder) WHERE state = 0;
    CREATE INDEX hapax_queue_rest
      ON hapax_queue(destination, state, lane, lane_seq) WHERE state <> 0;

    CREATE TABLE hapax_lane(
      destination      INTEGER NOT NULL,
      key              BLOB NOT NULL,
      head_event       INTEGER,              -- the one that is open or blocks; NULL: it is empty
      head_delivery    INTEGER,
      version          INTEGER,              -- the highest that was completed,
      version_until_ms INTEGER,              -- ... until then
      remember_ms      INTEGER NOT NULL,     -- of the last arrival
      PRIMARY KEY(destination, key)
    ) WITHOUT ROWID;

    CREATE TABLE hapax_attempt(
      event       INTEGER NOT NULL,
      delivery    INTEGER NOT NULL,
      fence       INTEGER NOT NULL,
      destination INTEGER NOT NULL,
      outcome     INTEGER NOT NULL,          -- AttemptOutcome; 0 is completed
      settled_ms  INTEGER NOT NULL,
      began_us    INTEGER NOT NULL,
      took_ms     INTEGER NOT NULL,
      status      INTEGER NOT NULL,
      error       BLOB NOT NULL,
      excerpt     BLOB NOT NULL,
      listen      INTEGER NOT NULL,          -- this and what follows: of the delivery, for when it
      replay_of   INTEGER,                   -- has left the queue
      replay_no   INTEGER,
      PRIMARY KEY(event, delivery, fence)
    ) WITHOUT ROWID;

    CREATE TABLE hapax_variant(              -- changed bodies; only the last has its bytes
      event  INTEGER NOT NULL,
      n      INTEGER NOT NULL,
      digest BLOB NOT NULL,
      at_us  INTEGER NOT NULL,
      body   BLOB,
      PRIMARY KEY(event, n)
    ) WITHOUT ROWID;
    CREATE TABLE hapax_duplicate(
      event INTEGER PRIMARY KEY,
      count INTEGER NOT NULL
    );

    CREATE TABLE hapax_reject(
      no          INTEGER PRIMARY KEY,
      source      INTEGER NOT NULL,
      tenant      BLOB NOT NULL,
      reason      BLOB NOT NULL,
      detail      BLOB NOT NULL,
      received_us INTEGER NOT NULL,
      method      BLOB NOT NULL,
      url         BLOB NOT NULL,
      headers     BLOB NOT NULL,
      proof       BLOB NOT NULL,
      body        BLOB NOT NULL
    );
    CREATE INDEX hapax_reject_source ON hapax_reject(source, no);

    CREATE TABLE hapax_seen(
      source INTEGER PRIMARY KEY,
      at_ms  INTEGER NOT NULL
    );
    CREATE TABLE hapax_pause(destination INTEGER PRIMARY KEY);
    CREATE TABLE hapax_node(
      no       INTEGER PRIMARY KEY,
      owner    BLOB NOT NULL,                -- 16 bytes; none: nobody's
      until_ms INTEGER NOT NULL
    );
    CREATE TABLE hapax_secret(
      one   INTEGER PRIMARY KEY CHECK (one = 1),
      bytes BLOB NOT NULL
    );

    CREATE TABLE hapax_fence(
      one  INTEGER PRIMARY KEY CHECK (one = 1),
      last INTEGER NOT NULL
    );
    INSERT INTO hapax_fence VALUES(1, 0);

    CREATE TABLE hapax_sweep(                -- how far retention came: see retention.cpp
      one              INTEGER PRIMARY KEY CHECK (one = 1),
      phase            INTEGER NOT NULL,
      event            INTEGER NOT NULL,
      attempt_event    INTEGER NOT NULL,
      attempt_delivery INTEGER NOT NULL,
      claim            BLOB NOT NULL,
      lane_destination INTEGER NOT NULL,
      lane_key         BLOB NOT NULL,
      floor            INTEGER NOT NULL      -- the largest event number that was removed
    );
    INSERT INTO hapax_sweep VALUES(1, 0, 0, 0, 0, x'', 0, x'', -1);
    )sql",

    // 3: rejects with the address they came from, and what did not stay. Nothing wrote them before.
    R"sql(
    DROP TABLE hapax_reject;
    CREATE TABLE hapax_reject(
      no          INTEGER PRIMARY KEY,
      source      INTEGER NOT NULL,
      size        INTEGER NOT NULL,          -- see size_of(Reject)
      received_us INTEGER NOT NULL,
      address     BLOB NOT NULL,
      tenant      BLOB NOT NULL,
      reason      BLOB NOT NULL,
      detail      BLOB NOT NULL,
      method      BLOB NOT NULL,
      url         BLOB NOT NULL,
      headers     BLOB NOT NULL,
      proof       BLOB NOT NULL,
      body        BLOB NOT NULL
    );
    CREATE INDEX hapax_reject_ring ON hapax_reject(source, no, address, size);
    CREATE TABLE hapax_reject_count(
      source  INTEGER PRIMARY KEY,
      evicted INTEGER NOT NULL,
      dropped INTEGER NOT NULL
    );
    )sql",

    // 4: records.
    R"sql(
    CREATE TABLE hapax_record(
      name    TEXT NOT NULL PRIMARY KEY,
      version INTEGER NOT NULL,              -- made by whoever wrote it
      content BLOB NOT NULL
    ) WITHOUT ROWID;
    )sql",

    // 5: claims of events on their way into the index of ids. That has another name now, so that an
    // older hapax that is still running cannot take it for the whole.
    R"sql(
    ALTER TABLE hapax_event_claim RENAME TO hapax_event_id;
    CREATE TABLE hapax_recent(
      seq    INTEGER PRIMARY KEY,            -- without a gap
      mark   INTEGER NOT NULL,               -- of this row and all before it: see event_claims.cpp
      turn   INTEGER NOT NULL,               -- how far they had been moved, without those of this
      moved  BLOB NOT NULL,                  -- row
      claims BLOB NOT NULL                   -- see recent_claims.hpp
    );
    )sql",

    // 6: the wall clock beside the store's time. The row becomes what was last noted, as a whole;
    // of
    // the wall clock at that moment nothing is known, unless nothing was noted at all.
    R"sql(
    ALTER TABLE hapax_clock ADD COLUMN wall_ms INTEGER;  -- NULL: noted before this version
    UPDATE hapax_clock SET boot_ms = boot_ms + last_ms - store_ms, store_ms = last_ms,
      wall_ms = CASE last_ms WHEN 0 THEN 0 END;
    )sql",

    // 7: what must not happen to claims of events, counted: see claim_index.hpp.
    R"sql(
    CREATE TABLE hapax_claim_fault(
      one     INTEGER PRIMARY KEY CHECK (one = 1),
      doubled INTEGER NOT NULL,              -- claims that met a live one of another event
      event   INTEGER NOT NULL,              -- of the last: the newer event,
      other   INTEGER NOT NULL               -- ... and the one that had the id
    );
    INSERT INTO hapax_claim_fault VALUES(1, 0, 0, 0);
    )sql",
};
constexpr int kVersion = static_cast<int>(kMigrations.size());

constexpr const char* kMakeVersionTable =
    "CREATE TABLE hapax_schema(version INTEGER NOT NULL); INSERT INTO hapax_schema VALUES(0)";

Result<bool> has_version_table(sqlite3* db) {
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db,
                                             "SELECT 1 FROM main.sqlite_schema"
                                             " WHERE type = 'table' AND name = 'hapax_schema'"));
  return Run(query).step("read the schema");
}

// 0 when there is none.
Result<void> apply(sqlite3* db, int from) {
  HAPAX_TRY_ASSIGN(exists, has_version_table(db));
  if (!exists) HAPAX_TRY(execute(db, kMakeVersionTable, "create the schema"));
  for (int version = from; version < kVersion; ++version) {
    HAPAX_TRY(execute(db, kMigrations[static_cast<std::size_t>(version)], "upgrade the schema"));
  }
  HAPAX_TRY_ASSIGN(note, Statement::prepare(db, "UPDATE hapax_schema SET version = ?1"));
  HAPAX_TRY(Run(note).bind(std::int64_t{kVersion}).change("note the schema version"));
  Result<void> done = execute(db, "COMMIT", "commit the schema");
  if (done || in_transaction(db)) return done;
  return Error(done.error().code(), Outcome::unknown, done.error().detail());
}

}  // namespace

int known_version() {
  return kVersion;
}

Result<int> version_of(sqlite3* db) {
  HAPAX_TRY_ASSIGN(exists, has_version_table(db));
  if (!exists) return 0;
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db, "SELECT version FROM hapax_schema"));
  Run run(query);
  HAPAX_TRY_ASSIGN(row, run.step("read the schema version"));
  return row ? static_cast<int>(run.number(0)) : 0;
}

Result<int> migrate(sqlite3* db) {
  HAPAX_TRY_ASSIGN(seen, version_of(db));
  HAPAX_TRY(refuse_newer(seen, kVersion));
  if (seen == kVersion) return kVersion;
  if (in_transaction(db)) {
    return Error(Code::misconfigured,
                 "the schema must be upgraded and the handle is in a transaction; attach to it "
                 "before the transaction begins, or run hapax migrate");
  }
  HAPAX_TRY(execute(db, "BEGIN IMMEDIATE", "upgrade the schema"));
  // Another process may have done it while this one waited for the lock.
  Result<int> now = version_of(db);
  Result<void> done = !now ? Result<void>(now.error()) : refuse_newer(*now, kVersion);
  if (done) done = apply(db, *now);
  roll_back(db);
  if (!done) return std::move(done).error();
  return kVersion;
}

Result<void> check_schema(sqlite3* db) {
  HAPAX_TRY_ASSIGN(version, version_of(db));
  return require_current(version, kVersion);
}

}  // namespace hapax::store::sqlite
