// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/inspect.hpp"

#include "base/try.hpp"
#include "store/postgres/driver.hpp"
#include "store/postgres/executor.hpp"
#include "store/postgres/schema.hpp"

#include <cstdlib>

namespace hapax::store::postgres {

namespace {

constexpr const char* kAskTime =
    "SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) "
    "1000000)::bigint";

constexpr const char* kAskWholePages = "SELECT pg_catalog.current_setting('full_page_writes')";

// Whether this user is a superuser, and whether everyone may create objects in schema public.
constexpr const char* kAskRisks =
    "SELECT r.rolsuper, (SELECT pg_catalog.has_schema_privilege('public', n.oid, 'CREATE')"
    " FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) 'public')"
    " FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) current_user";
// The last fence drawn, and the largest of the newest deliveries: a full scan would take long.
constexpr const char* kAskFences =
    "SELECT f.last_value, q.most, q.most OPERATOR(pg_catalog.>) f.last_value FROM hapax.fence AS f,"
    " (SELECT pg_catalog.max(greatest(n.fence, n.lane_seq)) AS most"
    " FROM (SELECT fence, lane_seq FROM hapax.queue ORDER BY event DESC, delivery DESC LIMIT 10000)"
    " AS n) AS q";

Result<StoreSummary> first_look(Executor& executor) {
  StoreSummary summary;
  summary.known = static_cast<int>(migrations().size());
  HAPAX_TRY_ASSIGN(version, version_of(executor));
  summary.version = version;
  HAPAX_TRY_ASSIGN(time, executor.run(kAskTime, "ask for the time"));
  summary.now = WallTime(
      std::chrono::microseconds(std::strtoll(std::string(time.field(0, 0)).c_str(), nullptr, 10)));
  HAPAX_TRY_ASSIGN(whole_pages, executor.run(kAskWholePages, "ask for the settings"));
  if (whole_pages.field(0, 0) == "off") {
    summary.risks.emplace_back(
        "the PostgreSQL server runs with full_page_writes=off: a power cut can tear a page, unless "
        "the "
        "file system writes whole pages (ZFS does); turn it on in postgresql.conf");
  }
  return summary;
}

Result<void> add_warnings(Executor& executor, StoreSummary& summary) {
  HAPAX_TRY_ASSIGN(risks, executor.run(kAskRisks, "ask for the rights of this user"));
  if (risks.field(0, 0) == "t") {
    summary.risks.emplace_back(
        "hapax connects to PostgreSQL as a superuser; use a role that owns the schema hapax and "
        "nothing else");
  }
  if (risks.field(0, 1) == "t") {
    summary.risks.emplace_back(
        "every user of the database may create objects in schema public, which others may run by "
        "mistake; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  }
  HAPAX_TRY_ASSIGN(fences, executor.run(kAskFences, "compare fences"));
  if (fences.field(0, 2) == "t") {
    summary.problems.push_back("fences moved backwards: deliveries have fences up to " +
                               std::string(fences.field(0, 1)) + ", the last drawn is " +
                               std::string(fences.field(0, 0)) +
                               "; set the server's clock, then restart PostgreSQL");
  }
  return {};
}

}  // namespace

Result<std::optional<StoreSummary>> inspect_url(const std::string& url, const OpenOptions& options,
                                                Random& random) {
  HAPAX_TRY(check_url(url));
  const std::unique_ptr<Clock> clock = make_system_clock();
  HAPAX_TRY_ASSIGN(connection, Connection::connect(url, *clock, options.timeout));
  ConnectionExecutor executor(connection, *clock, options.timeout);
  HAPAX_TRY_ASSIGN(summary, first_look(executor));
  if (summary.version == 0) return std::optional<StoreSummary>();
  if (summary.version != summary.known) return std::optional(std::move(summary));
  OpenOptions only_look = options;
  only_look.migrate = false;
  HAPAX_TRY_ASSIGN(driver, open_driver(url, only_look, random));
  HAPAX_TRY_ASSIGN(sources, driver.catalog->names(NameKind::source));
  HAPAX_TRY_ASSIGN(destinations, driver.catalog->names(NameKind::destination));
  HAPAX_TRY_ASSIGN(stats, driver.catalog->stats());
  summary.sources = std::move(sources);
  summary.destinations = std::move(destinations);
  summary.seen = std::move(stats.sources);
  HAPAX_TRY(add_warnings(executor, summary));
  return std::optional(std::move(summary));
}

}  // namespace hapax::store::postgres
