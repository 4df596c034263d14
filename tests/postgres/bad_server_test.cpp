// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/refusal.hpp"
#include "postgres/server.hpp"
#include "store/inspect.hpp"

#include <fstream>

// Servers configured so that hapax must reject them, or cannot log in.
namespace hapax::test {
namespace {

std::string url_of(const PostgresServer& server, std::string_view password,
                   const std::string& database) {
  return "postgres://hapax:" + std::string(password) + "@/" + database +
         "?host=" + server.directory();
}

void ask_for_passwords(PostgresServer& server) {
  const PgHandle connection = server.connect();
  ask(connection.get(), "ALTER ROLE hapax PASSWORD 'the-right-one'");
  ask(connection.get(), "CREATE DATABASE closed");
  std::ofstream(server.directory() + "/data/pg_hba.conf")
      << "local closed all reject\nlocal all all scram-sha-256\n";
  server.restart(PostgresServer::Stop::fast);
}

TEST(PostgresBadServer, AWrongPasswordIsReportedWithoutShowingIt) {
  PostgresServer server;
  ask_for_passwords(server);
  expect_refused(url_of(server, kPassword, "postgres"), Code::misconfigured,
                 "password authentication failed", "check the user, the password");
  expect_refused("postgres://hapax@/postgres?host=" + server.directory(), Code::misconfigured,
                 "no password supplied", "check the user, the password");
  expect_refused(url_of(server, kPassword, "closed"), Code::misconfigured,
                 "pg_hba.conf rejects connection", "pg_hba.conf");

  Result<Store> store = open(url_of(server, "the-right-one", "postgres"));
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_FALSE(store->dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST(PostgresBadServer, AServerWithoutFsyncIsRefused) {
  PostgresServer server;
  server.set("fsync", "off");
  server.restart(PostgresServer::Stop::fast);
  expect_refused(url_of(server, kPassword, "postgres"), Code::misconfigured, "fsync=off",
                 "turn it on in postgresql.conf");
  {
    const PgHandle connection = server.connect();
    const Result<PostgresSession> session = PostgresSession::attach(connection.get());
    ASSERT_FALSE(session) << "commit() promises durability on the server's disk";
    expect_refusal(session.error(), Code::misconfigured, "fsync=off",
                   "turn it on in postgresql.conf");
  }
  server.reset("fsync");
  server.restart(PostgresServer::Stop::fast);
  EXPECT_TRUE(open(server.url()));
}

TEST(PostgresBadServer, AServerThatRetriesFailedSyncsIsRefused) {
  PostgresServer server;
  server.set("data_sync_retry", "on");
  server.restart(PostgresServer::Stop::fast);
  expect_refused(url_of(server, kPassword, "postgres"), Code::misconfigured, "data_sync_retry=on",
                 "turn it off in postgresql.conf");
  server.reset("data_sync_retry");
  server.restart(PostgresServer::Stop::fast);
  EXPECT_TRUE(open(server.url()));
}

TEST(PostgresBadServer, AServerWithoutFullPageWritesIsReportedButAccepted) {
  PostgresServer server;
  server.set("full_page_writes", "off");
  server.restart(PostgresServer::Stop::fast);
  EXPECT_TRUE(open(server.url()));
  const auto summary =
      store::inspect(store::StoreUrl::parse(server.url()).value(), {}).value().value();
  ASSERT_EQ(summary.risks.size(), 2U) << "the other risk: the tests' user is a superuser";
  EXPECT_NE(summary.risks.front().find("full_page_writes=off"), std::string::npos);
}

TEST(PostgresBadServer, AReadOnlyHostIsSkippedForAWritableOne) {
  const PostgresDatabase database;
  PostgresServer standby;
  ask(standby.connect().get(), "CREATE DATABASE " + database.name());
  standby.set("default_transaction_read_only", "on");
  standby.restart(PostgresServer::Stop::fast);

  const std::string first = url_of(standby, kPassword, database.name());
  const std::string both = first + "," + postgres_directory();
  constexpr const char* kWritable = "&target_session_attrs=read-write";
  expect_refused(both, Code::store_read_only, "read-only", "target_session_attrs=read-write");
  expect_refused(first + kWritable, Code::store_read_only, "session is read-only",
                 "name the primary");
  Result<Store> store = open(both + kWritable);
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_FALSE(store->dedup({.scope = "s", .id = "a"})->duplicate);
  EXPECT_EQ(ask(database.connect().get(), "SELECT count(*) FROM hapax.claim"), "1");
}

}  // namespace
}  // namespace hapax::test
