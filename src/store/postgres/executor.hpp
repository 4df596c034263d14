// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/connection.hpp"

namespace hapax::store::postgres {

// Something that runs SQL: a connection of the store's own with a deadline, or the caller's.
class Executor {
 public:
  virtual ~Executor() = default;
  // One or several statements without parameters; the answer is the last one's.
  virtual Result<Answer> run(const char* sql, std::string_view doing) = 0;
};

class ConnectionExecutor final : public Executor {
 public:
  ConnectionExecutor(Connection& connection, BootTime deadline)
      : connection_(connection), deadline_(deadline) {}
  Result<Answer> run(const char* sql, std::string_view doing) override {
    return connection_.execute(sql, deadline_, doing);
  }

 private:
  Connection& connection_;
  BootTime deadline_;
};

// The caller's own PGconn, which waits as long as the caller has told it to. An error means that
// the statement did not take effect, unless it was a COMMIT.
class CallersConnection final : public Executor {
 public:
  explicit CallersConnection(pg_conn* connection) : connection_(connection) {}

  pg_conn* handle() const { return connection_; }
  Result<Answer> run(const char* sql, std::string_view doing) override;
  Result<Answer> run(const char* sql, const Parameters& parameters, std::string_view doing);

 private:
  pg_conn* connection_;
};

}  // namespace hapax::store::postgres
