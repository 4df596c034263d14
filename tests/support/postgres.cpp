// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/postgres.hpp"

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "store/postgres/schema.hpp"
#include "support/eventually.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

// A lock shared by all test programs that use the server.
class TemplateLock {
 public:
  TemplateLock()
      : file_(::open((postgres_directory() + "/template.lock").c_str(), O_CREAT | O_RDWR, 0600)) {
    EXPECT_EQ(flock(file_, LOCK_EX), 0) << std::strerror(errno);
  }
  ~TemplateLock() { close(file_); }
  TemplateLock(const TemplateLock&) = delete;
  TemplateLock& operator=(const TemplateLock&) = delete;

 private:
  int file_;
};

// Returns the name of a database with the schema, which is created if it does not exist. It is
// renamed to that name only when it is complete. From then on it accepts no connections, because
// PostgreSQL cannot copy a database that is in use.
std::string make_template() {
  std::string all;
  for (const std::string_view each : store::postgres::migrations()) all += each;
  const std::string name = "hapax_" + to_hex(view(sha256(all))).substr(0, 16);
  const TemplateLock lock;
  if (ask_server("SELECT count(*) FROM pg_database WHERE datname = '" + name + "'") == "1") {
    return name;
  }
  ask_server("DROP DATABASE IF EXISTS hapax_draft WITH (FORCE)");
  ask_server("CREATE DATABASE hapax_draft");
  const Result<int> migrated = migrate(url_of("hapax_draft", "5432"), {.timeout = kLongTimeout});
  if (!migrated) {  // every test of this program would fail
    std::cerr << "The template database: " << migrated.error().to_string() << '\n';
    std::exit(1);
  }
  ask_server("ALTER DATABASE hapax_draft ALLOW_CONNECTIONS false");
  ask_server("ALTER DATABASE hapax_draft RENAME TO " + name);
  return name;
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

PostgresDatabase::PostgresDatabase(Schema schema) {
  std::unique_ptr<Random> random = make_system_random();
  unsigned char number[8];
  random->fill(number);
  name_ = "t";
  for (const unsigned char byte : number) name_ += std::to_string(byte % 100);
  std::string from;
  if (schema == Schema::current) {
    static const std::string made = make_template();
    from = " TEMPLATE " + made;
  }
  ask_server("CREATE DATABASE " + name_ + from);
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
PgHandle PostgresDatabase::connect_through_pgbouncer() const {
  return connect_to(url_through_pgbouncer());
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
  EXPECT_TRUE(is_so) << "timed out waiting for: " << condition;
  return is_so;
}

bool wait_for_lock_waiter(PGconn* connection) {
  return wait_until(connection,
                    "EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
                    " AND wait_event_type = 'Lock')");
}

}  // namespace hapax::test
