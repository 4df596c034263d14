// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/caller_db.hpp"

#include "base/claim_key.hpp"

#include <sqlite3.h>

namespace hapax::test {

namespace {

class Query {
 public:
  Query(sqlite3* db, const std::string& sql) {
    sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind_blob(std::string_view bytes) {
    sqlite3_bind_blob64(statement_, 1, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  }
  bool step() { return statement_ != nullptr && sqlite3_step(statement_) == SQLITE_ROW; }
  std::int64_t first_number() { return step() ? sqlite3_column_int64(statement_, 0) : -1; }
  std::string text() const {
    return reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

std::int64_t count_of(sqlite3* db, const std::string& sql, std::string_view bytes) {
  Query query(db, sql);
  query.bind_blob(bytes);
  return query.first_number();
}

Result<void> work_for(SqliteTx& tx, const std::string& id) {
  if (run(tx.handle(), "INSERT INTO work VALUES(CAST('" + id + "' AS BLOB))") != SQLITE_OK ||
      run(tx.handle(), "UPDATE counter SET n = n + 1") != SQLITE_OK) {
    return Error(Code::work_failed, sqlite3_errmsg(tx.handle()));
  }
  Result<Enqueued> sent = outbox(tx).enqueue({.destination = "mail", .key = id, .payload = id});
  if (!sent) return std::move(sent).error();
  return {};
}

}  // namespace

void CloseDb::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

Db open_db(const std::string& path) {
  sqlite3* raw = nullptr;
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, kFlags, nullptr);
  Db db(raw);
  if (code != SQLITE_OK) return nullptr;
  return db;
}

int run(sqlite3* db, const std::string& sql) {
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

std::int64_t number(sqlite3* db, const std::string& sql) {
  return Query(db, sql).first_number();
}

std::string text(sqlite3* db, const std::string& sql) {
  Query query(db, sql);
  return query.step() ? query.text() : std::string();
}

std::string integrity(sqlite3* db) {
  Query query(db, "PRAGMA integrity_check");
  std::string result;
  while (query.step()) result += (result.empty() ? "" : "\n") + query.text();
  return result.empty() ? sqlite3_errmsg(db) : result;
}

int make_caller_tables(sqlite3* db) {
  return run(db,
             "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS work(id BLOB);"
             "CREATE TABLE IF NOT EXISTS counter(one INTEGER PRIMARY KEY, n INTEGER);"
             "INSERT OR IGNORE INTO counter VALUES(1, 0); COMMIT");
}

Result<Once> do_job(SqliteTx& tx, const std::string& id) {
  return once(tx, {.scope = kJobs, .id = id}, [&](SqliteTx& inner) { return work_for(inner, id); });
}

Traces traces_of(sqlite3* db, const std::string& id) {
  const std::string key = claim_key(ClaimKind::id, kJobs, id);
  return {.claims = count_of(db, "SELECT count(*) FROM hapax_claim WHERE key = ?1", key),
          .rows = count_of(db, "SELECT count(*) FROM work WHERE id = ?1", id),
          .messages = count_of(db, "SELECT count(*) FROM hapax_message WHERE payload = ?1", id)};
}

bool counter_agrees(sqlite3* db) {
  return number(db, "SELECT (SELECT n FROM counter) = (SELECT count(*) FROM work)") == 1;
}

}  // namespace hapax::test
