// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/undone.hpp"

#include "bench/must.hpp"
#include "bench/store/hand_written.hpp"
#include "store/sqlite/driver.hpp"

namespace hapax::bench {

namespace {

// Global, because the hook that SQLite calls for every new handle has no user argument.
const Undone* g_undone = nullptr;

int authorize(void* ignored, int action, const char* pragma, const char*, const char*,
              const char*) {
  const bool ignore = action == SQLITE_PRAGMA && *static_cast<std::string*>(ignored) == pragma;
  return ignore ? SQLITE_IGNORE : SQLITE_OK;
}

// All pragmas are set while a handle is opened, so one name at a time is enough.
void ignore(sqlite3* db, const std::string& pragma) {
  static std::string ignored;
  ignored = pragma;
  sqlite3_set_authorizer(db, authorize, &ignored);
}

int change(sqlite3* db, char**, const struct sqlite3_api_routines*) {
  const int code = sqlite3_exec(db, g_undone->at_open.c_str(), nullptr, nullptr, nullptr);
  if (!g_undone->ignored.empty()) ignore(db, g_undone->ignored);
  return code;
}

}  // namespace

Undoing::Undoing(const Undone& undone) {
  g_undone = &undone;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(change));
}

Undoing::~Undoing() {
  sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(change));
  g_undone = nullptr;
}

void make_undone(const std::string& path, const Undone& undone) {
  const Undoing undoing(undone);
  must(store::sqlite::migrate_file(path, {}));
  if (!undone.on_file.empty()) execute(open_database(path).get(), undone.on_file.c_str());
}

store::Driver open_undone(const std::string& path, const Undone& undone, Clock& clock) {
  make_undone(path, undone);
  const Undoing undoing(undone);
  return must(store::sqlite::open_driver(path, {}, clock));
}

}  // namespace hapax::bench
