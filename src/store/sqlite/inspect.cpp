// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/inspect.hpp"

#include "base/percent.hpp"
#include "base/try.hpp"
#include "store/sqlite/catalog/names.hpp"
#include "store/sqlite/catalog/reading.hpp"
#include "store/sqlite/file/schema.hpp"
#include "store/sqlite/file/store_time.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

namespace hapax::store::sqlite {

namespace {

bool is_there(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

// The path as a URI, with special characters escaped.
std::string uri_of(const std::string& path, std::string_view options) {
  const std::string plain =
      percent_encoded(path, [](char each) { return each != '%' && each != '?' && each != '#'; });
  return (path.starts_with('/') ? "file:" : "file:./") + plain + std::string(options);
}

Result<Handle> open_to_look(const std::string& path, std::chrono::milliseconds busy_timeout) {
  // Without a log no process has the file open, and it can be read without creating its shared
  // memory.
  const bool is_closed = !is_there(path + "-wal");
  sqlite3* raw = nullptr;
  constexpr int kFlags =
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code =
      sqlite3_open_v2(uri_of(path, is_closed ? "?immutable=1" : "").c_str(), &raw, kFlags, nullptr);
  Handle db(raw, Close{});
  if (code != SQLITE_OK) return error_of(raw, code, "open the store for inspection");
  sqlite3_busy_timeout(raw, static_cast<int>(busy_timeout.count()));
  return db;
}

}  // namespace

Result<std::optional<StoreSummary>> inspect_file(const std::string& path,
                                                 const OpenOptions& options, Clock& clock) {
  if (!is_there(path)) return std::optional<StoreSummary>();
  HAPAX_TRY_ASSIGN(db, open_to_look(path, options.busy_timeout));
  StoreSummary summary;
  summary.known = known_version();
  HAPAX_TRY_ASSIGN(version, version_of(db.get()));
  if (version == 0) return std::optional<StoreSummary>();
  summary.version = version;
  if (version != summary.known) return std::optional(std::move(summary));
  HAPAX_TRY_ASSIGN(time, StoreTime::prepare(db.get(), clock));
  HAPAX_TRY_ASSIGN(now_ms, time.peek_ms());
  summary.now = WallTime(std::chrono::milliseconds(now_ms));
  Names names(db.get());
  HAPAX_TRY_ASSIGN(sources, names.all(NameKind::source));
  HAPAX_TRY_ASSIGN(destinations, names.all(NameKind::destination));
  Reading reading(db.get());
  HAPAX_TRY_ASSIGN(stats, reading.stats(now_ms));
  HAPAX_TRY_ASSIGN(faults, reading.claim_faults());
  summary.sources = std::move(sources);
  summary.destinations = std::move(destinations);
  summary.seen = std::move(stats.sources);
  summary.faults = faults;
  return std::optional(std::move(summary));
}

}  // namespace hapax::store::sqlite
