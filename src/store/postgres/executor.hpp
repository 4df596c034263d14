// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/connection.hpp"

#include <algorithm>

namespace hapax::store::postgres {

// Runs SQL: on a connection of the store, with a deadline, or on the caller's.
class Executor {
 public:
  virtual ~Executor() = default;
  // One or more statements without parameters; returns the result of the last.
  virtual Result<QueryResult> run(const char* sql, std::string_view doing) = 0;
  // A part of a migration, which may work on large tables.
  virtual Result<QueryResult> run_long(const char* sql, std::string_view doing) {
    return run(sql, doing);
  }
};

class ConnectionExecutor final : public Executor {
 public:
  ConnectionExecutor(Connection& connection, const Clock& clock, BootTime timeout)
      : connection_(connection), clock_(clock), timeout_(timeout) {}
  Result<QueryResult> run(const char* sql, std::string_view doing) override {
    return connection_.execute(sql, clock_.since_boot() + timeout_, doing);
  }
  Result<QueryResult> run_long(const char* sql, std::string_view doing) override {
    return connection_.execute(sql, clock_.since_boot() + std::max(timeout_, kMigrationStatement),
                               doing);
  }

 private:
  static constexpr BootTime kMigrationStatement = std::chrono::hours(1);

  Connection& connection_;
  const Clock& clock_;
  const BootTime timeout_;  // per statement
};

// The caller's own PGconn, with the caller's timeouts. An error means that the statement did not
// take effect, unless it was a COMMIT.
class CallersConnection final : public Executor {
 public:
  explicit CallersConnection(pg_conn* connection) : connection_(connection) {}

  pg_conn* handle() const { return connection_; }
  Result<QueryResult> run(const char* sql, std::string_view doing) override;
  Result<QueryResult> run(const char* sql, const Parameters& parameters, std::string_view doing);

 private:
  pg_conn* connection_;
};

}  // namespace hapax::store::postgres
