// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/world.hpp"

#include <hapax/postgres.hpp>

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace hapax::test {

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PgHandle = std::unique_ptr<PGconn, FinishConnection>;

// The socket directory of the server of tools/with_postgres. Exits the process if there is none.
std::string postgres_directory();

// A database for one test on that server, dropped by the destructor. Schema::current copies a
// template, which the first test that needs it creates: a copy takes a tenth of the time of the
// migrations.
class PostgresDatabase {
 public:
  enum class Schema { current, none };

  explicit PostgresDatabase(Schema schema = Schema::current);
  ~PostgresDatabase();
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  const std::string& name() const { return name_; }
  std::string url() const;
  std::string url_through_pgbouncer() const;
  PgHandle connect() const;
  PgHandle connect_through_pgbouncer() const;

 private:
  std::string name_;
};

// Runs SQL that must succeed; returns the first column of the first row.
std::string ask(PGconn* connection, const std::string& sql);
// The same on a new connection to the maintenance database.
std::string ask_server(const std::string& sql);

// Waits until `condition`, an SQL expression, is true on the server. A timeout fails the test.
bool wait_until(PGconn* connection, const std::string& condition);
// Waits until a backend of this database waits for a lock.
bool wait_for_lock_waiter(PGconn* connection);

}  // namespace hapax::test
