// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/schema.hpp"

#include "base/try.hpp"
#include "store/schema_version.hpp"
#include "store/sqlite/connection.hpp"

#include <array>
#include <string>

namespace hapax::store::sqlite {

namespace {

// Forward only: a migration that has been released is never changed, only followed by another. The
// tables stand in the caller's own database, hence the prefix.
constexpr std::array<const char*, 1> kMigrations{
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
Result<int> version_of(sqlite3* db) {
  HAPAX_TRY_ASSIGN(exists, has_version_table(db));
  if (!exists) return 0;
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db, "SELECT version FROM hapax_schema"));
  Run run(query);
  HAPAX_TRY_ASSIGN(row, run.step("read the schema version"));
  return row ? static_cast<int>(run.number(0)) : 0;
}

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
