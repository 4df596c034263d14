// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/purge.hpp"

#include "base/try.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/statements.hpp"

#include <optional>
#include <string>

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kPurging = "remove expired ids";

// The first column of the first row, if there is a row.
Result<std::optional<std::string>> first(Run& run) {
  HAPAX_TRY_ASSIGN(found, run.step(kPurging));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(run.bytes(0));
}

Result<std::string> read_cursor(sqlite3* db) {
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db, kReadPurgeCursor));
  Run run(query);
  HAPAX_TRY_ASSIGN(cursor, first(run));
  return cursor.value_or(std::string());
}

Result<std::optional<std::string>> step_end(sqlite3* db, const std::string& after,
                                            std::size_t limit) {
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db, kPurgeStepEnd));
  Run run(query);
  run.bind(after).bind(static_cast<std::int64_t>(limit) - 1);
  return first(run);
}

Result<std::int64_t> remove(sqlite3* db, const std::string& after,
                            const std::optional<std::string>& up_to, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(query, Statement::prepare(db, up_to ? kPurgeStep : kPurgeRest));
  Run run(query);
  run.bind(after);
  if (up_to) run.bind(*up_to);
  return run.bind(now_ms).change(kPurging);
}

}  // namespace

Result<Purged> purge_step(sqlite3* db, std::int64_t now_ms, std::size_t limit) {
  HAPAX_TRY_ASSIGN(after, read_cursor(db));
  HAPAX_TRY_ASSIGN(up_to, step_end(db, after, limit));
  HAPAX_TRY_ASSIGN(removed, remove(db, after, up_to, now_ms));
  HAPAX_TRY_ASSIGN(note, Statement::prepare(db, kWritePurgeCursor));
  const std::string cursor = up_to.value_or(std::string());
  HAPAX_TRY(Run(note).bind(cursor).change(kPurging));
  return Purged{.removed = static_cast<std::size_t>(removed), .done = !up_to};
}

}  // namespace hapax::store::sqlite
