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

// Where the server of tools/with_postgres listens. Ends the process when there is none.
std::string postgres_directory();

// A database of the test's own on that server, dropped with the object. One with the schema is a
// copy of a template, which whichever test needs it first makes: a copy takes a tenth of the time
// of the migrations.
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

// Runs SQL that must work, and gives the first column of the first row.
std::string ask(PGconn* connection, const std::string& sql);
// ... on a connection to the maintenance database.
std::string ask_server(const std::string& sql);

// Waits until `condition`, an SQL expression, is true on the server. A failure of the test if it
// never is.
bool wait_until(PGconn* connection, const std::string& condition);
// Waits until a backend of this database waits for a lock.
bool wait_for_lock_waiter(PGconn* connection);

}  // namespace hapax::test
