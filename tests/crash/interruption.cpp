// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/interruption.hpp"

#include <sqlite3.h>

#include <map>
#include <mutex>

namespace hapax::test {

namespace {

// Global because SQLite's hook for new handles takes no user argument.
struct Count {
  std::mutex mutex;
  std::int64_t nth = 0;
  std::int64_t steps = 0;
  std::map<sqlite3*, bool> in_transaction;
  std::vector<std::int64_t> ends;
};
Count g_count;

int count(void* handle) {
  auto* db = static_cast<sqlite3*>(handle);
  const bool open = sqlite3_get_autocommit(db) == 0;
  const std::lock_guard lock(g_count.mutex);
  ++g_count.steps;
  bool& was_open = g_count.in_transaction[db];
  if (was_open && !open) g_count.ends.push_back(g_count.steps);
  was_open = open;
  return g_count.steps == g_count.nth ? 1 : 0;
}

int watch(sqlite3* db, char**, const struct sqlite3_api_routines*) {
  sqlite3_progress_handler(db, 1, count, db);
  return SQLITE_OK;
}

}  // namespace

Interruption::Interruption(std::int64_t nth) {
  arm(nth);
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
}

Interruption::~Interruption() {
  sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch));
}

void Interruption::arm(std::int64_t nth) {
  const std::lock_guard lock(g_count.mutex);
  g_count.nth = nth;
  g_count.steps = 0;
  g_count.in_transaction.clear();
  g_count.ends.clear();
}

bool Interruption::reached() const {
  const std::lock_guard lock(g_count.mutex);
  return g_count.nth > 0 && g_count.steps >= g_count.nth;
}

std::int64_t Interruption::steps() const {
  const std::lock_guard lock(g_count.mutex);
  return g_count.steps;
}

std::vector<std::int64_t> Interruption::ends() const {
  const std::lock_guard lock(g_count.mutex);
  return g_count.ends;
}

}  // namespace hapax::test
