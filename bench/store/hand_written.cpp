// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/hand_written.hpp"

#include <hapax/store.hpp>

#include <chrono>
#include <stdexcept>

namespace hapax::bench {

namespace {

void check(sqlite3* db, int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE) return;
  throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(db));
}

}  // namespace

Database open_database(const std::string& path) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                         SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, kFlags, nullptr);
  Database db(raw);
  check(raw, code);
  execute(raw,
          "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4000;"
          "PRAGMA cache_size=-8000; PRAGMA secure_delete=OFF; PRAGMA foreign_keys=OFF");
  return db;
}

void execute(sqlite3* db, const char* sql) {
  check(db, sqlite3_exec(db, sql, nullptr, nullptr, nullptr));
}

Query::Query(sqlite3* db, const char* sql) : db_(db) {
  sqlite3_stmt* raw = nullptr;
  check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr));
  statement_.reset(raw);
}

void Query::bind(int place, std::string_view bytes) {
  sqlite3_bind_blob(statement_.get(), place, bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_STATIC);
}

void Query::bind(int place, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), place, number);
}

int Query::run() {
  check(db_, sqlite3_step(statement_.get()));
  sqlite3_reset(statement_.get());
  return sqlite3_changes(db_);
}

bool Query::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  check(db_, code);
  return false;
}

std::int64_t Query::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Query::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Query::reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t expiry_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return (std::chrono::duration_cast<std::chrono::milliseconds>(now) + kDefaultTtl).count();
}

}  // namespace hapax::bench
