// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/schema.hpp"

#include "base/claim_key.hpp"
#include "base/hex.hpp"
#include "store/postgres/driver.hpp"
#include "support/postgres.hpp"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <thread>
#include <vector>

namespace hapax::test {
namespace {

using store::postgres::migrations;

const int kKnown = static_cast<int>(migrations().size());

// The names of all tables, indexes and functions of hapax.
std::string inventory(PGconn* connection) {
  return ask(connection,
             "SELECT string_agg(name, ' ' ORDER BY name) FROM ("
             "  SELECT 'relation ' || relname AS name FROM pg_class"
             "   WHERE relnamespace = 'hapax'::regnamespace"
             "  UNION ALL SELECT 'function ' || proname FROM pg_proc"
             "   WHERE pronamespace = 'hapax'::regnamespace) AS everything");
}

class PostgresSchema : public testing::Test {
 protected:
  std::string as_owner(const std::string& sql) const { return ask(owner_.get(), sql); }
  bool has_schema() const {
    return as_owner("SELECT count(*) FROM pg_namespace WHERE nspname = 'hapax'") == "1";
  }
  // Waits until another backend waits for a lock.
  void wait_for_waiter() const { ASSERT_TRUE(wait_for_lock_waiter(watcher_.get())); }
  // Expects the result of an undisturbed migration.
  void expect_complete() const {
    EXPECT_EQ(as_owner("SELECT string_agg(version::text, ',') FROM hapax.schema_version"),
              std::to_string(kKnown));
    const std::string found = inventory(owner_.get());
    as_owner("SET client_min_messages = error; DROP SCHEMA hapax CASCADE");
    ASSERT_TRUE(migrate(database_.url()));
    EXPECT_EQ(found, inventory(owner_.get()));
  }

  PostgresDatabase database_{PostgresDatabase::Schema::none};
  PgHandle owner_ = database_.connect();
  PgHandle watcher_ = database_.connect();
};

// Opens the database in one of three ways, like nodes of different kinds started together.
void open_in_some_way(const PostgresDatabase& database, int way) {
  if (way % 3 == 0) {
    const Result<int> version = migrate(database.url(), {.timeout = kLongTimeout});
    ASSERT_TRUE(version) << version.error().to_string();
    EXPECT_EQ(*version, kKnown);
  } else if (way % 3 == 1) {
    Result<Store> store = open(database.url(), {.timeout = kLongTimeout});
    ASSERT_TRUE(store) << store.error().to_string();
    EXPECT_TRUE(store->dedup({.scope = "s", .id = std::to_string(way)}));
  } else {
    const PgHandle connection = database.connect();
    const Result<PostgresSession> session = PostgresSession::attach(connection.get());
    ASSERT_TRUE(session) << session.error().to_string();
  }
}

TEST(PostgresSchemaRace, EightConcurrentStartsOnANewDatabaseAllSucceed) {
  constexpr int kThreads = 8;
  const int count = rounds(20);
  for (int round = 0; round < count && !testing::Test::HasFailure(); ++round) {
    const PostgresDatabase database(PostgresDatabase::Schema::none);
    std::barrier start(kThreads);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        open_in_some_way(database, i);
      });
    }
    threads.clear();
    EXPECT_EQ(ask(database.connect().get(), "SELECT count(*) FROM hapax.schema_version"), "1");
  }
  RecordProperty("rounds", count);
}

TEST_F(PostgresSchema, AMigrationThatWaitedForAnotherFindsItDone) {
  as_owner("BEGIN; SELECT pg_advisory_xact_lock(448345170296)");
  std::jthread second([&] {
    const Result<int> version = migrate(database_.url(), {.timeout = kLongTimeout});
    ASSERT_TRUE(version) << version.error().to_string();
    EXPECT_EQ(*version, kKnown);
  });
  wait_for_waiter();
  as_owner("CREATE SCHEMA hapax; CREATE TABLE hapax.schema_version (version int NOT NULL)");
  as_owner("INSERT INTO hapax.schema_version VALUES (" + std::to_string(kKnown) + ")");
  for (const std::string_view each : migrations()) as_owner(std::string(each));
  as_owner("COMMIT");
}

TEST_F(PostgresSchema, AMigrationIsDoneOnce) {
  EXPECT_EQ(migrate(database_.url()).value(), kKnown);
  const std::string before = as_owner("SELECT xmin FROM hapax.schema_version");
  EXPECT_EQ(migrate(database_.url()).value(), kKnown);
  ASSERT_TRUE(open(database_.url()));
  ASSERT_TRUE(PostgresSession::attach(owner_.get()));
  EXPECT_EQ(as_owner("SELECT xmin FROM hapax.schema_version"), before) << "nothing was written";
}

TEST_F(PostgresSchema, ANewerSchemaIsRefusedAndUnchanged) {
  ASSERT_TRUE(migrate(database_.url()));
  const std::string newer = std::to_string(kKnown + 1);
  as_owner("UPDATE hapax.schema_version SET version = " + newer);
  as_owner("DROP FUNCTION hapax._purge");
  const std::string before = inventory(owner_.get());
  for (const bool may_migrate : {true, false}) {
    EXPECT_EQ(open(database_.url(), {.migrate = may_migrate}).error().code(), Code::store_newer);
    EXPECT_EQ(PostgresSession::attach(owner_.get(), {.migrate = may_migrate}).error().code(),
              Code::store_newer);
  }
  EXPECT_EQ(migrate(database_.url()).error().code(), Code::store_newer);
  EXPECT_EQ(inventory(owner_.get()), before);
  EXPECT_EQ(as_owner("SELECT version FROM hapax.schema_version"), newer);
  EXPECT_EQ(PQtransactionStatus(owner_.get()), PQTRANS_IDLE);
}

TEST_F(PostgresSchema, WithoutTheRightToMigrateAMissingSchemaIsAnErrorAndStaysMissing) {
  const Result<Store> store = open(database_.url(), {.migrate = false});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  EXPECT_NE(store.error().detail().find("run hapax migrate"), std::string::npos);
  EXPECT_FALSE(has_schema());
}

TEST_F(PostgresSchema, WithoutTheRightToMigrateAnOlderSchemaIsAnErrorAndStaysOld) {
  ASSERT_TRUE(migrate(database_.url()));
  as_owner("UPDATE hapax.schema_version SET version = " + std::to_string(kKnown - 1));
  const Result<Store> store = open(database_.url(), {.migrate = false});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  EXPECT_NE(store.error().detail().find("run hapax migrate"), std::string::npos);
  EXPECT_EQ(as_owner("SELECT version FROM hapax.schema_version"), std::to_string(kKnown - 1));
}

TEST_F(PostgresSchema, WithoutTheRightToMigrateACurrentSchemaIsUsed) {
  ASSERT_TRUE(migrate(database_.url()));
  Result<Store> store = open(database_.url(), {.migrate = false});
  ASSERT_TRUE(store) << store.error().to_string();
  EXPECT_FALSE(store->dedup({.scope = "s", .id = "a"})->duplicate);
}

TEST_F(PostgresSchema, NothingIsMigratedInsideACallersTransaction) {
  as_owner("BEGIN");
  const Result<PostgresSession> session = PostgresSession::attach(owner_.get());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code(), Code::misconfigured);
  EXPECT_EQ(PQtransactionStatus(owner_.get()), PQTRANS_INTRANS)
      << "the caller's transaction stays open";
  as_owner("COMMIT");
  EXPECT_FALSE(has_schema());
}

// A schema of the first version in use: live and expired claims, a stored result, and unsent
// messages.
class PostgresSchemaOfTheFirstVersion : public PostgresSchema {
 protected:
  PostgresSchemaOfTheFirstVersion() {
    as_owner(
        "CREATE SCHEMA hapax; CREATE TABLE hapax.schema_version (version int NOT NULL);"
        "INSERT INTO hapax.schema_version VALUES (1)");
    as_owner(std::string(migrations().front()));
    claim("lasting", "30 days");
    claim("over", "-1 second");
    as_owner("SELECT hapax._keep(" + key_of("lasting") + ", " + token_of("lasting") +
             ", 'its result')");
    for (const char* id : {"1", "2"}) {
      as_owner("SELECT hapax._enqueue('00000000-0000-4000-8000-00000000000" + std::string(id) +
               "', 'mail', NULL, 'lane', '', 'payload', NULL, NULL, 0, NULL)");
    }
  }

  static std::string key_of(std::string_view id) {
    return "decode('" + to_hex(claim_key(ClaimKind::id, "orders", id)) + "', 'hex')";
  }
  static std::string token_of(const std::string& id) { return "decode(md5('" + id + "'), 'hex')"; }

 private:
  void claim(const std::string& id, const std::string& time) const {
    as_owner("INSERT INTO hapax.claim (key, token, expires_at) VALUES (" + key_of(id) + ", " +
             token_of(id) + ", clock_timestamp() + interval '" + time + "')");
  }
};

TEST_F(PostgresSchemaOfTheFirstVersion, IsMigratedWithItsData) {
  EXPECT_EQ(migrate(database_.url()).value(), kKnown);
  const PostgresDatabase fresh(PostgresDatabase::Schema::none);
  ASSERT_TRUE(migrate(fresh.url()));
  EXPECT_EQ(inventory(owner_.get()), inventory(fresh.connect().get()));

  PostgresSession session = PostgresSession::attach(owner_.get()).value();
  PostgresTransaction tx = session.begin().value();
  const Once done = once(tx, {.scope = "orders", .id = "lasting"}, [](PostgresTx&) {
                      return std::string("done again");
                    }).value();
  ASSERT_TRUE(tx.commit());
  EXPECT_TRUE(done.duplicate);
  EXPECT_EQ(done.result, "its result");

  Store store = open(database_.url()).value();
  EXPECT_EQ(store.purge(10).value().removed, 1U);
  EXPECT_FALSE(store.dedup({.scope = "orders", .id = "over"})->duplicate);

  SeededRandom random(1);
  const auto driver = store::postgres::open_driver(database_.url(), {}, random).value();
  const std::array<EventNo, 3> numbers{EventNo(10), EventNo(11), EventNo(12)};
  EXPECT_EQ(driver.queue->move_messages(numbers).value().messages, 2U);
  EXPECT_EQ(
      as_owner("SELECT string_agg(convert_from(id, 'UTF8'), ' ' ORDER BY no) FROM hapax.event"),
      "00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002");
}

// An idle transaction of another session has read a table.
class PostgresSchemaBesideAReader : public PostgresSchemaOfTheFirstVersion {
 protected:
  PostgresSchemaBesideAReader() {
    ask(reader_.get(), "BEGIN");
    ask(reader_.get(), "SELECT count(*) FROM hapax.claim");
  }

  PgHandle reader_ = database_.connect();
};

TEST_F(PostgresSchemaBesideAReader, AWaitingMigrationBlocksNoOtherSession) {
  std::jthread waiting([&] {
    const Result<int> version = migrate(database_.url(), {.timeout = kLongTimeout});
    ASSERT_TRUE(version) << version.error().to_string();
    EXPECT_EQ(*version, kKnown);
  });
  // The migration pauses for a second after each attempt; in that pause all other sessions proceed.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wait_until(watcher_.get(),
                           "EXISTS (SELECT FROM pg_locks WHERE NOT granted"
                           " AND mode = 'AccessExclusiveLock')"));
    EXPECT_EQ(as_owner("SET lock_timeout = '5s';"
                       "SELECT hapax._claim(ARRAY[" +
                       key_of(std::to_string(i)) + "], ARRAY[" + token_of("x") +
                       "], ARRAY[1000::bigint], NULL, 5000)"),
              "1");
  }
  ask(reader_.get(), "COMMIT");
}

TEST_F(PostgresSchemaBesideAReader, AMigrationThatTimesOutLeavesNoBackendBehind) {
  {
    const std::unique_ptr<Clock> clock = make_system_clock();
    auto connection =
        store::postgres::Connection::connect(database_.url(), *clock, kLongTimeout).value();
    store::postgres::ConnectionExecutor executor(connection, *clock, kLongTimeout);
    const Result<int> version =
        store::postgres::migrate(executor, {.rest = std::chrono::milliseconds(1), .tries = 3});
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code(), Code::store_busy);
    EXPECT_NE(version.error().detail().find("pg_locks"), std::string::npos);
  }
  EXPECT_TRUE(wait_until(watcher_.get(),
                         "NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'hapax'"
                         " AND datname = current_database())"));
  ask(reader_.get(), "COMMIT");
  EXPECT_EQ(migrate(database_.url()).value(), kKnown);
}

// An operator's cancellation is final. A retry would succeed as soon as the reader ended.
TEST_F(PostgresSchemaBesideAReader, ACancelledMigrationIsNotRetried) {
  std::jthread waiting([&] {
    const std::unique_ptr<Clock> clock = make_system_clock();
    auto connection =
        store::postgres::Connection::connect(database_.url(), *clock, kLongTimeout).value();
    store::postgres::ConnectionExecutor executor(connection, *clock, kLongTimeout);
    const Result<int> version = store::postgres::migrate(executor, {.lock = kLongTimeout});
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code(), Code::store_busy);
    EXPECT_NE(version.error().detail().find("cancelled"), std::string::npos)
        << version.error().detail();
  });
  ASSERT_TRUE(wait_until(watcher_.get(),
                         "count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity"
                         " WHERE datname = current_database() AND wait_event_type = 'Lock'"));
  ask(reader_.get(), "COMMIT");
}

// The migration is stopped after it created an object of the given kind, and its backend is
// terminated there.
class PostgresSchemaInterrupted : public PostgresSchema,
                                  public testing::WithParamInterface<const char*> {
 protected:
  static constexpr const char* kPause = "7";

  void pause_after(const std::string& tag) const {
    as_owner(std::string("CREATE FUNCTION public.pause() RETURNS event_trigger LANGUAGE plpgsql AS "
                         "$$ BEGIN PERFORM pg_advisory_xact_lock(") +
             kPause + "); END $$");
    as_owner("CREATE EVENT TRIGGER pause ON ddl_command_end WHEN TAG IN ('" + tag +
             "') EXECUTE FUNCTION public.pause()");
    as_owner(std::string("SELECT pg_advisory_lock(") + kPause + ")");
  }

  // Polls, because a migration waits only briefly at a time.
  void terminate_waiter() const {
    EXPECT_TRUE(wait_until(watcher_.get(),
                           "count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity"
                           " WHERE datname = current_database() AND wait_event_type = 'Lock'"));
  }
};

TEST_P(PostgresSchemaInterrupted, NothingIsLeftBehindAndTheNextMigrationSucceeds) {
  pause_after(GetParam());
  {
    std::jthread interrupted([&] {
      const Result<int> version = migrate(database_.url(), {.timeout = kLongTimeout});
      ASSERT_FALSE(version);
      EXPECT_TRUE(version.error().retryable()) << version.error().to_string();
    });
    wait_for_waiter();
    terminate_waiter();
  }
  EXPECT_FALSE(has_schema());
  as_owner("DROP EVENT TRIGGER pause");
  const Result<int> version = migrate(database_.url());
  ASSERT_TRUE(version) << version.error().to_string();
  expect_complete();
}

INSTANTIATE_TEST_SUITE_P(After, PostgresSchemaInterrupted,
                         testing::Values("CREATE SCHEMA", "CREATE TABLE", "CREATE INDEX",
                                         "CREATE FUNCTION"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::erase(name, ' ');
                           return name;
                         });

}  // namespace
}  // namespace hapax::test
