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

// PostgreSQL as one would use it by hand, with nothing between the statement and the loop.
// Everything throws std::runtime_error when PostgreSQL says no.
namespace hapax::bench {

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PgHandle = std::unique_ptr<PGconn, FinishConnection>;

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ClearResult>;

// Databases of the benchmark's own on the server of tools/with_postgres. They go with the object.
class PostgresPlace {
 public:
  // Nothing when there is no such server.
  static std::optional<PostgresPlace> find();

  PostgresPlace(PostgresPlace&&) = default;
  PostgresPlace& operator=(PostgresPlace&&) = delete;
  ~PostgresPlace();

  // Of a database that was not there before.
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

// A parameter in its binary form.
struct PgValue {
  Oid type;
  std::string bytes;
};
PgValue bytes_value(std::string_view bytes);
PgValue number_value(std::int64_t number);
PgValue bytes_array(std::span<const std::string> values);
PgValue number_array(std::size_t count, std::int64_t number);  // the same number again and again
PgValue numbers_array(std::span<const std::int64_t> values);

// One statement, not prepared, with its answer in binary form.
PgResult execute(PGconn* connection, const char* sql, std::span<const PgValue> values);
// How many rows it changed or gave.
std::size_t rows_of(const PgResult& result);
// A field of an answer in binary form. Bytes are there as long as the answer.
std::int64_t number_of(const PgResult& result, int row, int column);
std::string_view bytes_of(const PgResult& result, int row, int column);

}  // namespace hapax::bench
