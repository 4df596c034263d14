// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/schema.hpp"

#include "base/try.hpp"
#include "env/pause.hpp"
#include "store/postgres/errors.hpp"
#include "store/schema_version.hpp"

#include <cstdlib>
#include <string>

namespace hapax::store::postgres {

namespace {

// The advisory lock is held by the transaction, not the session, so that it is safe behind a pooler
// in transaction mode. Its number spells "hapax". With this search_path no object of another role
// can capture a name of a migration.
constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = pg_catalog, pg_temp;"
    " SET LOCAL lock_timeout = ";
constexpr const char* kBeAlone = "SELECT pg_catalog.pg_advisory_xact_lock(448345170296)";
constexpr const char* kMakeSchema =
    "CREATE SCHEMA IF NOT EXISTS hapax;"
    "CREATE TABLE IF NOT EXISTS hapax.schema_version (version int NOT NULL);"
    "INSERT INTO hapax.schema_version"
    " SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM hapax.schema_version)";
// Reads the catalog as a table: to_regclass() may answer from a cache that is older than the lock.
constexpr const char* kHasVersion =
    "SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0"
    " FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n"
    " ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
    " WHERE n.nspname OPERATOR(pg_catalog.=) 'hapax'"
    " AND c.relname OPERATOR(pg_catalog.=) 'schema_version'";
constexpr const char* kReadVersion = "SELECT version FROM hapax.schema_version";

int known() {
  return static_cast<int>(migrations().size());
}

}  // namespace

Result<int> version_of(Executor& executor) {
  constexpr std::string_view kDoing = "read the schema version";
  HAPAX_TRY_ASSIGN(exists, executor.run(kHasVersion, kDoing));
  if (exists.field(0, 0) != "t") return 0;
  HAPAX_TRY_ASSIGN(version, executor.run(kReadVersion, kDoing));
  if (version.rows() == 0) return 0;
  return std::atoi(std::string(version.field(0, 0)).c_str());
}

namespace {

constexpr std::string_view kMigrating = "upgrade the schema";

Result<void> apply(Executor& executor, std::chrono::milliseconds lock_timeout) {
  constexpr std::string_view kDoing = kMigrating;
  const std::string begin = kBegin + std::to_string(lock_timeout.count());
  HAPAX_TRY(executor.run_long(begin.c_str(), kDoing));
  HAPAX_TRY(executor.run_long(kBeAlone, kDoing));
  // Another node may have done it while this one waited for the lock.
  HAPAX_TRY_ASSIGN(from, version_of(executor));
  HAPAX_TRY(refuse_newer(from, known()));
  if (from == 0) HAPAX_TRY(executor.run(kMakeSchema, kDoing));
  for (int version = from; version < known(); ++version) {
    const std::string sql(migrations()[static_cast<std::size_t>(version)]);
    HAPAX_TRY(executor.run_long(sql.c_str(), kDoing));
  }
  const std::string note = "UPDATE hapax.schema_version SET version = " + std::to_string(known());
  HAPAX_TRY(executor.run_long(note.c_str(), kDoing));
  HAPAX_TRY(executor.run_long("COMMIT", kDoing));
  return {};
}

Error kept_out(const Error& why) {
  return Error(why.code(), why.outcome(),
               why.detail() +
                   "; end the transactions that hold locks on tables of the schema hapax "
                   "(see pg_locks), and migrate again");
}

constexpr const char* kMayWrite =
    "SELECT pg_catalog.bool_and(pg_catalog.has_table_privilege('hapax.claim', what)) AND"
    " pg_catalog.has_table_privilege('hapax.message', 'INSERT')"
    " FROM pg_catalog.unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS what";

Result<void> check_rights(Executor& executor) {
  HAPAX_TRY_ASSIGN(may, executor.run(kMayWrite, "ask for the rights on the schema"));
  if (may.field(0, 0) == "t") return {};
  return error_of("42501", "permission denied for table claim or message of the schema hapax",
                  "write");
}

// The partitioned tables, of events and attempts, and all their partitions.
constexpr const char* kOwnsDays =
    "SELECT pg_catalog.bool_and(pg_catalog.pg_has_role(c.relowner, 'USAGE'))"
    " AND pg_catalog.has_schema_privilege('hapax', 'CREATE')"
    " FROM pg_catalog.pg_class AS c"
    " WHERE c.relnamespace OPERATOR(pg_catalog.=) 'hapax'::pg_catalog.regnamespace::pg_catalog.oid"
    " AND (c.relkind OPERATOR(pg_catalog.=) 'p'"
    " OR c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relispartition)";

}  // namespace

Result<int> migrate(Executor& executor, const MigrationWaits& waits) {
  HAPAX_TRY_ASSIGN(seen, version_of(executor));
  HAPAX_TRY(refuse_newer(seen, known()));
  if (seen == known()) {
    HAPAX_TRY(check_rights(executor));
    return seen;
  }
  for (int tries = 1;; ++tries) {
    const Result<void> done = apply(executor, waits.lock);
    if (done) return known();
    static_cast<void>(executor.run("ROLLBACK", "roll back").has_value());
    const bool is_kept_out = done.error().code() == Code::store_busy && !is_cancelled(done.error());
    if (!is_kept_out) return done.error();
    if (tries >= waits.tries) return kept_out(done.error());
    pause(waits.rest);
  }
}

Result<void> check_schema(Executor& executor) {
  HAPAX_TRY_ASSIGN(version, version_of(executor));
  HAPAX_TRY(require_current(version, known()));
  return check_rights(executor);
}

Result<void> check_owner(Executor& executor) {
  HAPAX_TRY_ASSIGN(owns, executor.run(kOwnsDays, "ask for the owner of the tables"));
  if (owns.field(0, 0) == "t") return {};
  return error_of("42501",
                  "must be owner of the tables event and attempt of the schema hapax and of their "
                  "partitions, and may create tables there",
                  "keep events");
}

}  // namespace hapax::store::postgres
