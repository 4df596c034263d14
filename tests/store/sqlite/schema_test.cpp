// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/schema.hpp"

#include "store/sqlite/driver.hpp"
#include "store/sqlite/file/connection.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hapax::store::sqlite {
namespace {

using test::kLongTimeout;

// The schema of version 1.
constexpr const char* kVersion1 = R"sql(
  CREATE TABLE hapax_schema(version INTEGER NOT NULL);
  INSERT INTO hapax_schema VALUES(1);
  CREATE TABLE hapax_claim(key BLOB NOT NULL PRIMARY KEY, token BLOB NOT NULL,
    expires_ms INTEGER NOT NULL, result BLOB) WITHOUT ROWID;
  CREATE TABLE hapax_message(no INTEGER PRIMARY KEY, id BLOB NOT NULL, destination TEXT NOT NULL,
    key BLOB, order_key BLOB, headers BLOB NOT NULL, payload BLOB NOT NULL,
    created_ms INTEGER NOT NULL);
  CREATE TABLE hapax_clock(one INTEGER PRIMARY KEY CHECK (one = 1), boot_id TEXT NOT NULL,
    boot_ms INTEGER NOT NULL, store_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL);
  INSERT INTO hapax_clock VALUES(1, '', 0, 0, 0);
  CREATE TABLE hapax_purge(one INTEGER PRIMARY KEY CHECK (one = 1), after BLOB NOT NULL);
  INSERT INTO hapax_purge VALUES(1, x'');
  INSERT INTO hapax_claim VALUES(x'64000173', randomblob(16), 9e15, NULL);
  INSERT INTO hapax_message VALUES(7, randomblob(16), 'mail', NULL, NULL, x'', x'68690a', 1);
)sql";

class SchemaTest : public testing::Test {
 protected:
  Handle connect() { return open_file(file_, kLongTimeout).value(); }
  void execute_sql(const char* sql) {
    ASSERT_TRUE(execute(connect().get(), sql, "prepare the test"));
  }

  test::TempDir directory_;
  std::string file_ = directory_.file("s.db");
};

TEST_F(SchemaTest, IsCreatedOnce) {
  EXPECT_EQ(migrate(connect().get()).value(), 7);
  EXPECT_EQ(migrate(connect().get()).value(), 7);
  EXPECT_TRUE(check_schema(connect().get()));
}

TEST_F(SchemaTest, AnOlderSchemaIsMigratedAndKeepsItsData) {
  execute_sql(kVersion1);
  EXPECT_EQ(migrate(connect().get()).value(), 7);
  const Handle db = connect();
  for (const char* sql : {"SELECT count(*) FROM hapax_claim", "SELECT count(*) FROM hapax_message",
                          "SELECT count(*) FROM hapax_fence", "SELECT count(*) FROM hapax_sweep"}) {
    Statement query = Statement::prepare(db.get(), sql).value();
    store::sqlite::Run run(query);
    ASSERT_TRUE(run.step("count").value());
    EXPECT_EQ(run.number(0), 1) << sql;
  }
  const std::unique_ptr<Clock> clock = make_system_clock();
  const Driver driver = open_driver(file_, {}, *clock).value();
  const EventNo number(1);
  EXPECT_EQ(driver.queue->move_messages(std::span(&number, 1))->messages, 1U);
  EXPECT_EQ(driver.catalog->body(number, BodyOf::event)->value, "hi\n");
}

TEST_F(SchemaTest, AnOlderSchemaIsAnErrorWithMigrationOff) {
  execute_sql(kVersion1);
  EXPECT_EQ(check_schema(connect().get()).error().code(), Code::misconfigured);
}

TEST_F(SchemaTest, ANewerSchemaIsRefusedAndUnchanged) {
  EXPECT_TRUE(migrate(connect().get()));
  execute_sql("UPDATE hapax_schema SET version = 99");
  EXPECT_EQ(migrate(connect().get()).error().code(), Code::store_newer);
  const Result<Store> store = open("sqlite:" + file_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::store_newer);
  EXPECT_NE(store.error().detail().find("version 99"), std::string::npos);
  EXPECT_NE(store.error().detail().find("use a newer hapax"), std::string::npos);
}

TEST_F(SchemaTest, AMissingSchemaIsAnErrorWithMigrationOff) {
  const Result<Store> store = open("sqlite:" + file_, {.migrate = false});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  EXPECT_NE(store.error().detail().find("run hapax migrate"), std::string::npos);
  EXPECT_TRUE(migrate(connect().get()));
  EXPECT_TRUE(open("sqlite:" + file_, {.migrate = false}));
}

TEST_F(SchemaTest, ConcurrentOpensOfANewFileAllSucceed) {
  for (int round = 0; round < test::rounds(100); ++round) {
    const std::string file = directory_.file(std::to_string(round) + ".db");
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const Result<Store> store = open("sqlite:" + file, {.busy_timeout = kLongTimeout});
        if (!store) ADD_FAILURE() << store.error().to_string();
      });
    }
    for (std::thread& each : threads) each.join();
  }
}

TEST_F(SchemaTest, CoexistsWithTheCallersOwnTables) {
  execute_sql("CREATE TABLE claim(x); CREATE TABLE message(y); PRAGMA user_version = 7");
  EXPECT_TRUE(migrate(connect().get()));
  const Handle db = connect();
  Statement query = Statement::prepare(db.get(), "PRAGMA user_version").value();
  store::sqlite::Run run(query);
  ASSERT_TRUE(run.step("read").value());
  EXPECT_EQ(run.number(0), 7);
}

}  // namespace
}  // namespace hapax::store::sqlite
