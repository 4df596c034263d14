// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_suite.hpp"
#include "store/memory/driver.hpp"
#include "store/postgres/driver.hpp"
#include "store/sqlite/driver.hpp"
#include "support/postgres.hpp"
#include "support/world.hpp"

// The stores that have an inbox, each with a manual clock.
namespace hapax::test {

class MemoryInbox final : public InboxSubject {
 public:
  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds by) override { clock_.jump_wall(by); }

 private:
  ManualClock clock_;
  Driver driver_ = memory::make_driver(100'000, clock_);
};

// SQLite has a single writer, so a message in an open transaction would block the store.
class SqliteInbox final : public InboxSubject {
 public:
  SqliteInbox() { reopen(); }

  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds by) override { clock_.jump_wall(by); }
  void restart() override { reopen(); }

 private:
  void reopen() {
    driver_ = {};
    const OpenOptions options{.needs = {Capability::inbox}};
    driver_ = sqlite::open_driver(directory_.file("inbox.db"), options, clock_).value();
  }

  TempDir directory_;
  ManualClock clock_;
  Driver driver_;
};

// The server's clock cannot be set, so every statement is given the time. The store does not use
// the node's wall clock.
class PostgresInbox : public InboxSubject {
 public:
  PostgresInbox() { reopen(); }

  const Driver& driver() override { return driver_; }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds) override {}
  void restart() override { reopen(); }
  std::unique_ptr<OpenMessage> begin_message(const Message& message) override {
    return std::make_unique<Uncommitted>(database_.connect(), clock_, message);
  }

 protected:
  explicit PostgresInbox(std::string (PostgresDatabase::*url)() const) : url_(url) { reopen(); }
  void reopen() {
    driver_ = {};
    const OpenOptions options{.timeout = kLongTimeout, .clock = &clock_};
    driver_ = postgres::open_driver((database_.*url_)(), options, random_).value();
  }
  PostgresDatabase database_;

 private:
  class Uncommitted final : public OpenMessage {
   public:
    Uncommitted(PgHandle connection, Clock& clock, const Message& message)
        : connection_(std::move(connection)),
          session_(PostgresSession::attach(connection_.get(), {.clock = &clock}).value()),
          transaction_(session_.begin().value()) {
      EXPECT_TRUE(outbox(transaction_).enqueue(message));
    }
    void commit() override { EXPECT_TRUE(transaction_.commit()); }

   private:
    PgHandle connection_;
    PostgresSession session_;
    PostgresTransaction transaction_;
  };

  std::string (PostgresDatabase::*url_)() const = &PostgresDatabase::url;
  ManualClock clock_;
  SeededRandom random_{1};
  Driver driver_;
};

// Behind a pooler that runs each transaction on a different session.
class PgbouncerInbox final : public PostgresInbox {
 public:
  PgbouncerInbox() : PostgresInbox(&PostgresDatabase::url_through_pgbouncer) {}
};

// A database with serializable as the default isolation level.
class SerializableInbox final : public PostgresInbox {
 public:
  SerializableInbox() {
    ask_server("ALTER DATABASE " + database_.name() +
               " SET default_transaction_isolation = 'serializable'");
    reopen();
  }
};

}  // namespace hapax::test
