// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/claims/statements.hpp"
#include "store/sqlite/contracts.hpp"

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

// Scans the next `limit` claims in key order and removes expired ones. The cursor is stored in the
// file.
Result<Purged> purge_step(sqlite3* db, std::int64_t now_ms, std::size_t limit) {
  HAPAX_TRY_ASSIGN(after, read_cursor(db));
  HAPAX_TRY_ASSIGN(up_to, step_end(db, after, limit));
  HAPAX_TRY_ASSIGN(removed, remove(db, after, up_to, now_ms));
  HAPAX_TRY_ASSIGN(note, Statement::prepare(db, kWritePurgeCursor));
  const std::string cursor = up_to.value_or(std::string());
  HAPAX_TRY(Run(note).bind(cursor).change(kPurging));
  return Purged{.removed = static_cast<std::size_t>(removed), .done = !up_to};
}

class SqliteClaims final : public store::Claims {
 public:
  explicit SqliteClaims(Database& database) : database_(database) {}

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override {
    return database_.change<std::vector<Dedup>>(
        [&](Inbox& inbox, std::int64_t now_ms) -> Result<std::vector<Dedup>> {
          std::vector<Dedup> answers;
          for (const DedupItem& each : items) {
            HAPAX_TRY_ASSIGN(claimed, inbox.claims.claim({each.key, each.token, each.ttl}, now_ms));
            answers.push_back({.duplicate = !claimed.ours});
          }
          return answers;
        });
  }
  Result<Purged> purge(std::size_t limit) override {
    return database_.change<Purged>(
        [&](Inbox& inbox, std::int64_t now_ms) { return purge_step(inbox.db, now_ms, limit); });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<store::Claims> make_claims(Database& database) {
  return std::make_unique<SqliteClaims>(database);
}

}  // namespace hapax::store::sqlite
