// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/schema.hpp"

#include "store/sqlite/connection.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hapax::store::sqlite {
namespace {

constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(10);

class SchemaTest : public testing::Test {
 protected:
  Handle connect() { return open_file(file_, kPatience).value(); }
  void execute_sql(const char* sql) {
    ASSERT_TRUE(execute(connect().get(), sql, "prepare the test"));
  }

  test::TempDir directory_;
  std::string file_ = directory_.file("s.db");
};

TEST_F(SchemaTest, IsCreatedOnceAndThenFound) {
  EXPECT_EQ(migrate(connect().get()).value(), 1);
  EXPECT_EQ(migrate(connect().get()).value(), 1);
  EXPECT_TRUE(check_schema(connect().get()));
}

TEST_F(SchemaTest, ANewerOneIsRefusedAndLeftAlone) {
  EXPECT_TRUE(migrate(connect().get()));
  execute_sql("UPDATE hapax_schema SET version = 99");
  EXPECT_EQ(migrate(connect().get()).error().code(), Code::store_newer);
  const Result<Store> store = open("sqlite:" + file_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::store_newer);
  EXPECT_NE(store.error().detail().find("version 99"), std::string::npos);
  EXPECT_NE(store.error().detail().find("use a newer hapax"), std::string::npos);
}

TEST_F(SchemaTest, AMissingOneIsAnErrorWhereMigrationIsOff) {
  const Result<Store> store = open("sqlite:" + file_, {.migrate = false});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), Code::misconfigured);
  EXPECT_NE(store.error().detail().find("run hapax migrate"), std::string::npos);
  EXPECT_TRUE(migrate(connect().get()));
  EXPECT_TRUE(open("sqlite:" + file_, {.migrate = false}));
}

TEST_F(SchemaTest, ThreadsThatOpenANewFileAtOnceAllSucceed) {
  for (int round = 0; round < test::rounds(100); ++round) {
    const std::string file = directory_.file(std::to_string(round) + ".db");
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const Result<Store> store = open("sqlite:" + file, {.busy_timeout = kPatience});
        if (!store) ADD_FAILURE() << store.error().to_string();
      });
    }
    for (std::thread& each : threads) each.join();
  }
}

TEST_F(SchemaTest, TheCallersOwnTablesStandBesideOurs) {
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
