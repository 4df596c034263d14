// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/look.hpp"

#include "base/try.hpp"
#include "store/postgres/driver.hpp"
#include "store/postgres/executor.hpp"
#include "store/postgres/schema.hpp"

#include <cstdlib>

namespace hapax::store::postgres {

namespace {

constexpr const char* kAskTime = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

constexpr const char* kAskWholePages = "SELECT pg_catalog.current_setting('full_page_writes')";

// Version, time and risks, on a connection of its own.
Result<Sight> first_look(const std::string& url, const OpenOptions& options) {
  const std::unique_ptr<Clock> clock = make_system_clock();
  HAPAX_TRY_ASSIGN(connection, Connection::connect(url, *clock, options.timeout));
  ConnectionExecutor executor(connection, *clock, options.timeout);
  Sight sight;
  sight.known = static_cast<int>(migrations().size());
  HAPAX_TRY_ASSIGN(version, version_of(executor));
  sight.version = version;
  HAPAX_TRY_ASSIGN(time, executor.run(kAskTime, "ask for the time"));
  sight.now = WallTime(
      std::chrono::microseconds(std::strtoll(std::string(time.field(0, 0)).c_str(), nullptr, 10)));
  HAPAX_TRY_ASSIGN(whole_pages, executor.run(kAskWholePages, "ask for the settings"));
  if (whole_pages.field(0, 0) == "off") {
    sight.risks.emplace_back(
        "the PostgreSQL server runs with full_page_writes=off: a power cut can tear a page, unless "
        "the "
        "file system writes whole pages (ZFS does); turn it on in postgresql.conf");
  }
  return sight;
}

}  // namespace

Result<std::optional<Sight>> look_at_url(const std::string& url, const OpenOptions& options,
                                         Random& random) {
  HAPAX_TRY(check_url(url));
  HAPAX_TRY_ASSIGN(sight, first_look(url, options));
  if (sight.version == 0) return std::optional<Sight>();
  if (sight.version != sight.known) return std::optional(std::move(sight));
  OpenOptions only_look = options;
  only_look.migrate = false;
  HAPAX_TRY_ASSIGN(driver, open_driver(url, only_look, random));
  HAPAX_TRY_ASSIGN(sources, driver->names(NameKind::source));
  HAPAX_TRY_ASSIGN(destinations, driver->names(NameKind::destination));
  HAPAX_TRY_ASSIGN(stats, driver->stats());
  sight.sources = std::move(sources);
  sight.destinations = std::move(destinations);
  sight.seen = std::move(stats.sources);
  return std::optional(std::move(sight));
}

}  // namespace hapax::store::postgres
