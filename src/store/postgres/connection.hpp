// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "store/postgres/wire.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct pg_conn;
struct pg_result;

namespace hapax::store::postgres {

class Canceller;

// The format of a statement's result values.
enum class Form : std::uint8_t { text, binary };

// The result of a statement, as text, or in binary form to be read by rows.hpp.
class QueryResult {
 public:
  explicit QueryResult(pg_result* result) : result_(result) {}
  int rows() const;
  std::string_view command() const;                   // the command tag: "COMMIT", "ROLLBACK"
  std::string_view field(int row, int column) const;  // NULL reads as empty
  bool is_null(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// Takes ownership of a non-null result; a failed one becomes an Error.
Result<QueryResult> check_result(pg_result* result, std::string_view doing);

// Whether the server's settings make commits durable: fsync on, data_sync_retry off, and not
// read-only.
inline constexpr const char* kAskSettings =
    "SELECT pg_catalog.current_setting('fsync'), pg_catalog.pg_is_in_recovery(),"
    " pg_catalog.current_setting('transaction_read_only'),"
    " pg_catalog.current_setting('data_sync_retry'),"
    " pg_catalog.current_setting('synchronous_standby_names')";
Result<void> check_settings(const QueryResult& answer);

// A connection of the store. Used by one thread at a time. Every operation ends by a deadline of
// the boot clock. No session state: between two transactions a pooler may switch the server
// connection.
class Connection {
 public:
  // Connects and checks the server: version and check_settings(). Statements that miss their
  // deadline go to the canceller, which must outlive the connection; without one they are left to
  // the server.
  static Result<Connection> connect(const std::string& url, const Clock& clock, BootTime timeout,
                                    Canceller* canceller = nullptr);

  // Sends one statement, which is a transaction of its own unless one was begun, and waits until
  // the server has finished it, commit included: rows received before a failed commit do not count.
  // A failure of unknown outcome breaks the connection.
  Result<QueryResult> run(const char* sql, const Parameters& parameters, BootTime deadline,
                          std::string_view doing, Form form = Form::text);

  // As run(), in a transaction that begins with a lock_timeout, for statements that do not set it
  // themselves. Three round trips.
  Result<QueryResult> transact(const char* sql, const Parameters& parameters, BootTime deadline,
                               std::int64_t lock_timeout_ms, std::string_view doing, Form form);

  // One or more statements without parameters; returns the result of the last.
  Result<QueryResult> execute(const char* sql, BootTime deadline, std::string_view doing);

  bool broken() const;

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  // On the heap, because libpq keeps its address.
  struct Notices {
    bool not_replicated = false;
  };

  Connection(pg_conn* raw, const Clock& clock, Canceller* canceller);
  Result<QueryResult> collect(BootTime deadline, std::string_view doing);
  bool flush(BootTime deadline);
  bool wait_for_input(BootTime deadline);
  bool wait_for_socket(short events, BootTime deadline);
  Error lost(std::string_view why);
  void abandon();
  Result<void> check_server(BootTime deadline);

  std::unique_ptr<Notices> notices_;
  std::unique_ptr<pg_conn, Finish> connection_;
  const Clock* clock_;
  Canceller* canceller_;
};

}  // namespace hapax::store::postgres
