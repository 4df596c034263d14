// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/refusal.hpp"
#include "postgres/witness.hpp"

#include <libpq-fe.h>

#include <optional>

// The linker substitutes this function for libpq's, which stays callable as __real_PQserverVersion.
namespace {
std::optional<int> pretended_version;
}
extern "C" int __real_PQserverVersion(const PGconn* connection);
extern "C" int __wrap_PQserverVersion(const PGconn* connection) {
  return pretended_version ? *pretended_version : __real_PQserverVersion(connection);
}

namespace hapax::test {
namespace {

using std::chrono::milliseconds;

// A database, and a user with only the privileges that a test grants.
class PostgresBadInput : public testing::Test {
 protected:
  std::string url() const { return role_.url(database_); }
  // Runs as the owner of all objects.
  std::string as_owner(const std::string& sql) const { return ask(owner_.get(), sql); }
  void make_schema() const { ASSERT_TRUE(migrate(database_.url())); }
  void allow_to_make_schema() const {
    as_owner("GRANT CREATE ON DATABASE " + database_.name() + " TO " + role_.name());
  }
  void allow_to_use_schema() const {
    as_owner("GRANT USAGE ON SCHEMA hapax TO " + role_.name());
    as_owner("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hapax TO " +
             role_.name());
  }
  void set_for_database(const std::string& setting) const {
    as_owner("ALTER DATABASE " + database_.name() + " SET " + setting);
  }

  Role role_;
  PostgresDatabase database_{PostgresDatabase::Schema::none};
  PgHandle owner_ = database_.connect();
};

TEST_F(PostgresBadInput, AMissingDatabaseIsNamed) {
  const std::string missing = "postgres://" + role_.name() + ":" + std::string(kPassword) +
                              "@/no_such_database?host=" + postgres_directory();
  expect_refused(missing, Code::misconfigured, "\"no_such_database\" does not exist",
                 "create the database first");
}

TEST_F(PostgresBadInput, AnUnknownUserIsNamed) {
  const std::string unknown = "postgres://no_such_user:" + std::string(kPassword) + "@/" +
                              database_.name() + "?host=" + postgres_directory();
  expect_refused(unknown, Code::misconfigured, "\"no_such_user\" does not exist",
                 "check the user, the password and pg_hba.conf");
}

TEST_F(PostgresBadInput, MissingLoginPrivilegeIsReported) {
  as_owner("ALTER ROLE " + role_.name() + " NOLOGIN");
  expect_refused(url(), Code::misconfigured, "not permitted to log in", "check the user");
}

TEST_F(PostgresBadInput, MissingConnectPrivilegeIsReported) {
  as_owner("REVOKE CONNECT ON DATABASE " + database_.name() + " FROM PUBLIC");
  expect_refused(url(), Code::misconfigured, "permission denied for database",
                 "grant this user the right");
}

TEST_F(PostgresBadInput, MissingCreatePrivilegeIsReportedAndLeavesNothing) {
  expect_refused(url(), Code::misconfigured, "permission denied for database",
                 "run hapax migrate as the owner");
  EXPECT_EQ(as_owner("SELECT count(*) FROM pg_namespace WHERE nspname = 'hapax'"), "0");
}

TEST_F(PostgresBadInput, MissingCreatePrivilegeIsReportedOnACallersConnection) {
  const PgHandle connection(PQconnectdb(url().c_str()));
  const Result<PostgresSession> session = PostgresSession::attach(connection.get());
  ASSERT_FALSE(session);
  expect_refusal(session.error(), Code::misconfigured, "permission denied for database",
                 "run hapax migrate as the owner");
  EXPECT_EQ(PQtransactionStatus(connection.get()), PQTRANS_IDLE) << "no transaction is left open";
}

TEST_F(PostgresBadInput, MissingUsagePrivilegeIsReported) {
  make_schema();
  expect_refused(url(), Code::misconfigured, "permission denied for schema hapax",
                 "grant this user the right");
}

TEST_F(PostgresBadInput, MissingSelectPrivilegeIsReported) {
  make_schema();
  as_owner("GRANT USAGE ON SCHEMA hapax TO " + role_.name());
  expect_refused(url(), Code::misconfigured, "permission denied for table schema_version",
                 "grant this user the right");
}

TEST_F(PostgresBadInput, MissingInsertPrivilegeIsReportedAtOpen) {
  make_schema();
  allow_to_use_schema();
  as_owner("REVOKE INSERT ON hapax.claim FROM " + role_.name());
  const Result<Store> store = open(url());
  ASSERT_FALSE(store) << "open() promises that the store can be written";
  expect_refusal(store.error(), Code::misconfigured, "permission denied for table claim",
                 "grant this user the right");
}

TEST_F(PostgresBadInput, EventsRequireTableOwnershipAndClaimsDoNot) {
  make_schema();
  allow_to_use_schema();
  EXPECT_TRUE(open(url()));
  const OpenOptions events{.needs = {Capability::dedup, Capability::inbox}};
  as_owner("SELECT hapax._make_days(ARRAY[1])");
  as_owner("ALTER TABLE hapax.event OWNER TO " + role_.name());
  as_owner("ALTER TABLE hapax.attempt OWNER TO " + role_.name());
  as_owner("GRANT CREATE ON SCHEMA hapax TO " + role_.name());
  const Result<Store> refused = open(url(), events);
  ASSERT_FALSE(refused) << "a partition of another owner cannot be dropped";
  expect_refusal(refused.error(), Code::misconfigured, "must be owner of the tables event",
                 "grant this user the right");
  as_owner("ALTER TABLE hapax.event_20240102 OWNER TO " + role_.name());
  as_owner("ALTER TABLE hapax.attempt_20240102 OWNER TO " + role_.name());
  EXPECT_TRUE(open(url(), events));
  as_owner("REVOKE CREATE ON SCHEMA hapax FROM " + role_.name());
  EXPECT_FALSE(open(url(), events)) << "the next day's partition could not be created";
}

TEST_F(PostgresBadInput, AClaimWithoutPrivilegeDidNotHappen) {
  make_schema();
  allow_to_use_schema();
  Store store = open(url()).value();
  as_owner("REVOKE INSERT ON hapax.claim FROM " + role_.name());
  const Result<Dedup> refused = store.dedup({.scope = "s", .id = "a"});
  ASSERT_FALSE(refused);
  expect_refusal(refused.error(), Code::misconfigured, "permission denied for table claim",
                 "grant this user the right");
  allow_to_use_schema();
  EXPECT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST_F(PostgresBadInput, AReadOnlyDatabaseIsRefusedAtOpen) {
  make_schema();
  allow_to_use_schema();
  set_for_database("default_transaction_read_only = on");
  expect_refused(url(), Code::store_read_only, "read-only", "target_session_attrs=read-write");
}

TEST_F(PostgresBadInput, AReadOnlyDatabaseWithoutASchemaIsRefusedOnACallersConnection) {
  set_for_database("default_transaction_read_only = on");
  const PgHandle connection(PQconnectdb(url().c_str()));
  const Result<PostgresSession> session = PostgresSession::attach(connection.get());
  ASSERT_FALSE(session);
  expect_refusal(session.error(), Code::store_read_only, "read-only transaction",
                 "name the primary");
}

TEST_F(PostgresBadInput, ATooOldServerIsReportedWithItsVersion) {
  allow_to_make_schema();
  pretended_version = 130012;
  expect_refused(url(), Code::misconfigured, "version 13", "needs 14 or newer");
  pretended_version.reset();
  EXPECT_TRUE(open(url()));
}

TEST_F(PostgresBadInput, ATooOldServerIsReportedOnACallersConnection) {
  pretended_version = 130012;
  const Result<PostgresSession> session = PostgresSession::attach(owner_.get());
  pretended_version.reset();
  ASSERT_FALSE(session);
  expect_refusal(session.error(), Code::misconfigured, "version 13", "needs 14 or newer");
}

TEST_F(PostgresBadInput, ANewerSchemaIsRefused) {
  make_schema();
  allow_to_use_schema();
  as_owner("UPDATE hapax.schema_version SET version = 999");
  expect_refused(url(), Code::store_newer, "version 999", "use a newer hapax");
}

TEST_F(PostgresBadInput, AConnectionLimitIsReportedAtOpen) {
  as_owner("ALTER ROLE " + role_.name() + " CONNECTION LIMIT 0");
  expect_refused(url(), Code::store_unavailable, "too many connections for role",
                 "raise max_connections");
}

// The role's only connection is busy with a claim that the owner blocks.
TEST_F(PostgresBadInput, AConnectionLimitHitByARunningStoreIsReportedAndClears) {
  make_schema();
  allow_to_use_schema();
  as_owner("ALTER ROLE " + role_.name() + " CONNECTION LIMIT 1");
  as_owner(
      "CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS"
      " $$BEGIN LOOP BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW;"
      " EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END$$");  // ignores cancellation
  as_owner(
      "CREATE TRIGGER stall BEFORE INSERT ON hapax.claim FOR EACH ROW"
      " WHEN (position('held'::bytea IN NEW.key) > 0) EXECUTE FUNCTION stall()");
  as_owner("SELECT pg_advisory_lock(1)");
  Store store = open_with_short_timeout(url(), milliseconds(300));
  const Token token = make_token();
  const Result<Dedup> held = store.dedup({.scope = "s", .id = "held", .token = token});
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().outcome(), Outcome::unknown);
  expect_no_password(held.error());
  const Result<Dedup> refused = store.dedup({.scope = "s", .id = "other"});
  ASSERT_FALSE(refused);
  expect_refusal(refused.error(), Code::store_unavailable, "too many connections for role",
                 "raise max_connections");
  EXPECT_TRUE(refused.error().retryable());

  as_owner("SELECT pg_advisory_unlock(1)");
  as_owner("ALTER ROLE " + role_.name() + " CONNECTION LIMIT -1");
  const DedupRequest other{.scope = "s", .id = "other", .token = make_token()};
  EXPECT_FALSE(retry_until_known(store, other).value().duplicate);
  const DedupRequest again{.scope = "s", .id = "held", .token = token};
  EXPECT_FALSE(retry_until_known(store, again).value().duplicate);
}

TEST_F(PostgresBadInput, AClaimThatHitsAStatementTimeoutDidNotHappen) {
  make_schema();
  allow_to_use_schema();
  as_owner("ALTER ROLE " + role_.name() + " SET statement_timeout = '100ms'");
  Store store = open_with_retries(url(), {});
  PostgresSession session = PostgresSession::attach(owner_.get()).value();
  PostgresTransaction holder = session.begin().value();
  ASSERT_TRUE(once(holder, {"s", "held"}, [](PostgresTx&) {}));
  const Result<Dedup> refused = store.dedup({.scope = "s", .id = "held"});
  ASSERT_FALSE(refused);
  expect_refusal(refused.error(), Code::store_busy, "statement timeout", "raise it");
  EXPECT_TRUE(refused.error().retryable());
  holder.rollback();
  const DedupRequest again{.scope = "s", .id = "held", .token = make_token()};
  EXPECT_FALSE(retry_until_known(store, again).value().duplicate);
}

TEST_F(PostgresBadInput, InvalidOptionsAreRefused) {
  allow_to_make_schema();
  const Result<Store> store = open(url(), {.connections = 0});
  ASSERT_FALSE(store) << "without a connection every call would wait forever";
  expect_no_password(store.error());
}

// A server can be configured to add a statement's parameters to its error messages.
TEST_F(PostgresBadInput, APayloadIsNotShownInAnError) {
  make_schema();
  set_for_database("log_parameter_max_length_on_error = -1");
  const PgHandle connection = database_.connect();
  PostgresSession session = PostgresSession::attach(connection.get()).value();
  PostgresTransaction tx = session.begin().value();
  const Result<Enqueued> refused =
      outbox(tx).enqueue({.destination = "\xff", .payload = "payload"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().detail().find(to_hex("payload")), std::string::npos)
      << refused.error().detail();
}

// Records the synchronous_commit setting under which claims and messages were committed.
class PostgresDurability : public PostgresBadInput {
 protected:
  void SetUp() override {
    make_schema();
    set_for_database("synchronous_commit = off");
    as_owner(
        "CREATE TABLE public.noted(setting text);"
        "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        "  INSERT INTO public.noted VALUES (current_setting('synchronous_commit'));"
        "  RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER claimed AFTER INSERT OR UPDATE ON hapax.claim"
        "  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note();"
        "CREATE CONSTRAINT TRIGGER enqueued AFTER INSERT ON hapax.message"
        "  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.note()");
    caller_ = database_.connect();
    ASSERT_EQ(ask(caller_.get(), "SHOW synchronous_commit"), "off");
  }
  std::string noted() const {
    return as_owner("SELECT string_agg(DISTINCT setting, ',') FROM public.noted");
  }

  PgHandle caller_;
};

TEST_F(PostgresDurability, IsRaisedForAClaimOfTheStore) {
  Store store = open(database_.url()).value();
  ASSERT_FALSE(store.dedup({.scope = "s", .id = "a"})->duplicate);
  EXPECT_EQ(noted(), "on");
}

TEST_F(PostgresDurability, IsRaisedForOnce) {
  PostgresSession session = PostgresSession::attach(caller_.get()).value();
  PostgresTransaction tx = session.begin().value();
  ASSERT_TRUE(once(tx, {"s", "a"}, [](PostgresTx&) { return std::string("result"); }));
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(noted(), "on");
  EXPECT_EQ(ask(caller_.get(), "SHOW synchronous_commit"), "off")
      << "raised for that transaction only";
}

TEST_F(PostgresDurability, IsRaisedForAMessage) {
  PostgresSession session = PostgresSession::attach(caller_.get()).value();
  PostgresTransaction tx = session.begin().value();
  ASSERT_TRUE(outbox(tx).enqueue({.destination = "mail", .payload = "p"}));
  ASSERT_TRUE(tx.commit());
  EXPECT_EQ(noted(), "on") << "commit() promises that all of it is on the server's disk";
}

}  // namespace
}  // namespace hapax::test
