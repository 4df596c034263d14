// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// PostgreSQL as used by hand-written code, without layers between the statement and the loop. All
// functions throw std::runtime_error on a PostgreSQL error.
namespace hapax::bench {

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PgHandle = std::unique_ptr<PGconn, FinishConnection>;

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ClearResult>;

// Databases for the benchmark on the server of tools/with_postgres, dropped by the destructor.
class PostgresPlace {
 public:
  // nullopt if there is no such server.
  static std::optional<PostgresPlace> find();

  PostgresPlace(PostgresPlace&&) = default;
  PostgresPlace& operator=(PostgresPlace&&) = delete;
  ~PostgresPlace();

  // The URL of a new database.
  std::string fresh_url();
  std::string version() const;

 private:
  explicit PostgresPlace(const std::string& directory);

  std::string directory_;
  PgHandle connection_;
  std::vector<std::string> databases_;
};

PgHandle connect(const std::string& url);
PgResult execute(PGconn* connection, const char* sql);

// A parameter in binary form.
struct PgValue {
  Oid type;
  std::string bytes;
};
PgValue bytes_value(std::string_view bytes);
PgValue number_value(std::int64_t number);
PgValue bytes_array(std::span<const std::string> values);
PgValue number_array(std::size_t count, std::int64_t number);  // the same number `count` times
PgValue numbers_array(std::span<const std::int64_t> values);

// Executes a statement without preparing it. The result is in binary form.
PgResult execute(PGconn* connection, const char* sql, std::span<const PgValue> values);
// The number of changed or returned rows.
std::size_t rows_of(const PgResult& result);
// A field of a binary result. Bytes are valid as long as the result.
std::int64_t number_of(const PgResult& result, int row, int column);
std::string_view bytes_of(const PgResult& result, int row, int column);

}  // namespace hapax::bench
