// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/driver.hpp"

#include "base/try.hpp"
#include "store/grouped_claims.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/schema.hpp"

#include <libpq-fe.h>

#include <algorithm>

namespace hapax::store::postgres {

namespace {

// One database with its contracts.
struct Contracts {
  Contracts(const std::string& url, const OpenOptions& options, Random& random)
      : runner(url, options, random), grouped(claims, options.connections), queue(runner, random) {}

  Runner runner;
  PostgresClaims claims{runner};
  GroupedClaims grouped;
  PostgresQueue queue;
  PostgresCatalog catalog{runner};
  PostgresRejects rejects{runner};
  PostgresNode node{runner};
};

Error unreadable_url() {
  return Error(Code::misconfigured,
               "cannot read the PostgreSQL URL; write postgres://user:password@host:5432/database, "
               "with a number as the port and special characters as %XX");
}

// Without an @, "user:password" would be parsed as a host and a port.
bool has_port_numbers(const PQconninfoOption* options) {
  for (; options->keyword != nullptr; ++options) {
    if (std::string_view(options->keyword) != "port" || options->val == nullptr) continue;
    if (std::string_view(options->val).find_first_not_of("0123456789,") != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<void> check_url(const std::string& url) {
  // An @, / or ? in a password that is not escaped as %XX turns part of it into a host or a port,
  // which libpq then quotes.
  const std::size_t authority = url.find("//") + 2;
  const std::size_t end = std::min(url.find_first_of("/?", authority), url.size());
  const std::size_t at = url.find('@', authority);
  const bool ends_user =
      at == std::string::npos || (at < end && url.find('@', at + 1) == std::string::npos);
  if (!ends_user) return unreadable_url();
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &message);
  const bool readable = options != nullptr && has_port_numbers(options);
  PQconninfoFree(options);
  PQfreemem(message);
  return readable ? Result<void>() : Result<void>(unreadable_url());
}

Result<Driver> open_driver(const std::string& url, const OpenOptions& options, Random& random) {
  HAPAX_TRY(check_url(url));
  const auto made = std::make_shared<Contracts>(url, options, random);
  HAPAX_TRY(made->runner.start(options));
  return Driver{made, &made->grouped, &made->queue, &made->catalog, &made->rejects, &made->node};
}

Result<int> migrate_url(const std::string& url, const OpenOptions& options) {
  HAPAX_TRY(check_url(url));
  const std::unique_ptr<Clock> clock = make_system_clock();
  HAPAX_TRY_ASSIGN(connection, Connection::connect(url, *clock, options.timeout));
  ConnectionExecutor executor(connection, *clock, options.timeout);
  return migrate(executor);
}

}  // namespace hapax::store::postgres
