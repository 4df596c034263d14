// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/postgres.hpp"
#include "support/sqlite.hpp"

#include <gtest/gtest.h>

#include <string>

// A caller with its own database, behind the same interface for every kind of database. Each has a
// table work(id text).
namespace hapax::test {

class SqliteCaller {
 public:
  using Session = SqliteSession;
  using Transaction = SqliteTransaction;
  using Tx = SqliteTx;

  explicit SqliteCaller(ManualClock& clock) : clock_(clock) {}

  Session attach() { return Session::attach(db_.get(), {.clock = &clock_}).value(); }
  std::string url() const { return "sqlite:" + file_; }
  void run(const std::string& sql) const { db_.run(sql); }
  std::string text(const std::string& sql) const { return db_.text(sql); }
  static Result<void> insert_work(Tx& tx, const std::string& id) {
    return test::insert_work(tx.handle(), id);
  }

  static constexpr const char* kName = "Sqlite";
  static constexpr const char* kMessages = "hapax_message";
  static constexpr const char* kHex = "hex(%)";

 private:
  ManualClock& clock_;
  TempDir directory_;
  std::string file_ = directory_.file("app.db");
  CallersDatabase db_{file_};
};

class PostgresCaller {
 public:
  using Session = PostgresSession;
  using Transaction = PostgresTransaction;
  using Tx = PostgresTx;

  explicit PostgresCaller(ManualClock& clock)
      : PostgresCaller(clock, [](const PostgresDatabase& database) { return database.connect(); }) {
  }

  Session attach() { return Session::attach(connection_.get(), {.clock = &clock_}).value(); }
  std::string url() const { return database_.url(); }
  void run(const std::string& sql) const { ask(connection_.get(), sql); }
  std::string text(const std::string& sql) const { return ask(connection_.get(), sql); }
  static Result<void> insert_work(Tx& tx, const std::string& id) {
    const std::string sql = "INSERT INTO work VALUES('" + id + "')";
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(tx.handle(), sql.c_str()),
                                                               &PQclear);
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return {};
    return Error(Code::work_failed, PQerrorMessage(tx.handle()));
  }

  PGconn* handle() const { return connection_.get(); }
  const PostgresDatabase& database() const { return database_; }

  static constexpr const char* kName = "Postgres";
  static constexpr const char* kMessages = "hapax.message";
  static constexpr const char* kHex = "upper(encode(%, 'hex'))";

 protected:
  using Connect = PgHandle (*)(const PostgresDatabase&);
  PostgresCaller(ManualClock& clock, Connect connect)
      : clock_(clock), connection_(connect(database_)) {
    run("CREATE TABLE work(id text)");
  }

 private:
  ManualClock& clock_;
  PostgresDatabase database_;
  PgHandle connection_;
};

// Through pgbouncer in transaction mode.
class PgbouncerCaller : public PostgresCaller {
 public:
  explicit PgbouncerCaller(ManualClock& clock)
      : PostgresCaller(clock, [](const PostgresDatabase& database) {
          return database.connect_through_pgbouncer();
        }) {}

  static constexpr const char* kName = "Pgbouncer";
};

// In a database where transactions are serializable by default.
class SerializableCaller : public PostgresCaller {
 public:
  explicit SerializableCaller(ManualClock& clock)
      : PostgresCaller(clock, [](const PostgresDatabase& database) {
          ask_server("ALTER DATABASE " + database.name() +
                     " SET default_transaction_isolation = 'serializable'");
          return database.connect();
        }) {}

  static constexpr const char* kName = "Serializable";
};

// For typed suites.
using Callers = testing::Types<SqliteCaller, PostgresCaller, PgbouncerCaller, SerializableCaller>;

class CallerNames {
 public:
  template <class Caller>
  static std::string GetName(int) {
    return Caller::kName;
  }
};

template <class Caller>
int count(const Caller& caller, const std::string& table) {
  return std::atoi(caller.text("SELECT count(*) FROM " + table).c_str());
}

// An SQL expression: a binary column as upper-case hexadecimal text.
template <class Caller>
std::string hex_of(const std::string& column) {
  std::string sql = Caller::kHex;
  return sql.replace(sql.find('%'), 1, column);
}

}  // namespace hapax::test
