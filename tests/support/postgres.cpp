// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/postgres.hpp"

#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace hapax::test {

namespace {

std::string url_of(const std::string& database, const std::string& port) {
  return "postgres://hapax@/" + database + "?host=" + postgres_directory() + "&port=" + port;
}

PgHandle connect_to(const std::string& url) {
  PgHandle connection(PQconnectdb(url.c_str()));
  EXPECT_EQ(PQstatus(connection.get()), CONNECTION_OK) << PQerrorMessage(connection.get());
  return connection;
}

}  // namespace

std::string postgres_directory() {
  const char* directory = std::getenv("HAPAX_TEST_POSTGRES");
  if (directory == nullptr) {
    std::cerr << "This test needs PostgreSQL: run it with tools/with_postgres COMMAND\n";
    std::exit(1);
  }
  return directory;
}

PostgresDatabase::PostgresDatabase() {
  std::unique_ptr<Random> random = make_system_random();
  unsigned char number[8];
  random->fill(number);
  name_ = "t";
  for (const unsigned char byte : number) name_ += std::to_string(byte % 100);
  ask_server("CREATE DATABASE " + name_);
}

PostgresDatabase::~PostgresDatabase() {
  ask_server("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
}

std::string PostgresDatabase::url() const {
  return url_of(name_, "5432");
}
std::string PostgresDatabase::url_through_pgbouncer() const {
  return url_of(name_, "6432");
}
PgHandle PostgresDatabase::connect() const {
  return connect_to(url());
}

std::string ask(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()),
                                                             &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
      << sql << ": " << PQerrorMessage(connection);
  const bool has_value = status == PGRES_TUPLES_OK && PQntuples(result.get()) > 0;
  return has_value ? PQgetvalue(result.get(), 0, 0) : "";
}

std::string ask_server(const std::string& sql) {
  return ask(connect_to(url_of("postgres", "5432")).get(), sql);
}

bool wait_until(PGconn* connection, const std::string& condition) {
  const bool is_so = eventually([&] { return ask(connection, "SELECT " + condition) == "t"; });
  EXPECT_TRUE(is_so) << "never: " << condition;
  return is_so;
}

bool wait_for_lock_waiter(PGconn* connection) {
  return wait_until(connection,
                    "EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
                    " AND wait_event_type = 'Lock')");
}

}  // namespace hapax::test
