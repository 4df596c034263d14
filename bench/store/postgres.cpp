// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/postgres.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace hapax::bench {

namespace {

constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kByteaArray = 1001;
constexpr Oid kInt8Array = 1016;

PgResult check(PGconn* connection, PgResult result) {
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return result;
  throw std::runtime_error(std::string("PostgreSQL: ") + PQerrorMessage(connection));
}

template <class Integer>
void append(std::string& out, Integer number) {
  for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>((number >> shift) & 0xff);
  }
}

std::string array_of(Oid type, std::size_t count) {
  std::string out;
  for (const std::int32_t each :
       {1, 0, static_cast<std::int32_t>(type), static_cast<std::int32_t>(count), 1}) {
    append(out, each);
  }
  return out;
}

std::string url_of(const std::string& directory, const std::string& database) {
  return "postgres://hapax@/" + database + "?host=" + directory;
}

}  // namespace

std::optional<PostgresPlace> PostgresPlace::find() {
  const char* directory = std::getenv("HAPAX_TEST_POSTGRES");
  if (directory == nullptr) return std::nullopt;
  return PostgresPlace(directory);
}

PostgresPlace::PostgresPlace(const std::string& directory)
    : directory_(directory), connection_(connect(url_of(directory, "postgres"))) {}

PostgresPlace::~PostgresPlace() {
  for (const std::string& each : databases_) {
    PQclear(PQexec(connection_.get(), ("DROP DATABASE " + each + " WITH (FORCE)").c_str()));
  }
}

std::string PostgresPlace::fresh_url() {
  const std::string name =
      "bench_" + std::to_string(getpid()) + "_" + std::to_string(databases_.size());
  execute(connection_.get(), ("CREATE DATABASE " + name).c_str());
  databases_.push_back(name);
  return url_of(directory_, name);
}

std::string PostgresPlace::version() const {
  return PQparameterStatus(connection_.get(), "server_version");
}

PgHandle connect(const std::string& url) {
  PgHandle connection(PQconnectdb(url.c_str()));
  if (PQstatus(connection.get()) == CONNECTION_OK) return connection;
  throw std::runtime_error(PQerrorMessage(connection.get()));
}

PgResult execute(PGconn* connection, const char* sql) {
  return check(connection, PgResult(PQexec(connection, sql)));
}

PgValue bytes_value(std::string_view bytes) {
  return {kBytea, std::string(bytes)};
}

PgValue number_value(std::int64_t number) {
  std::string bytes;
  append(bytes, number);
  return {kInt8, std::move(bytes)};
}

PgValue bytes_array(std::span<const std::string> values) {
  std::string out = array_of(kBytea, values.size());
  for (const std::string& each : values) {
    append(out, static_cast<std::int32_t>(each.size()));
    out += each;
  }
  return {kByteaArray, std::move(out)};
}

PgValue number_array(std::size_t count, std::int64_t number) {
  std::string out = array_of(kInt8, count);
  for (std::size_t i = 0; i < count; ++i) {
    append(out, std::int32_t{sizeof number});
    append(out, number);
  }
  return {kInt8Array, std::move(out)};
}

PgValue numbers_array(std::span<const std::int64_t> values) {
  std::string out = array_of(kInt8, values.size());
  for (const std::int64_t each : values) {
    append(out, std::int32_t{sizeof each});
    append(out, each);
  }
  return {kInt8Array, std::move(out)};
}

PgResult execute(PGconn* connection, const char* sql, std::span<const PgValue> values) {
  constexpr std::size_t kMost = 8;
  std::array<Oid, kMost> types{};
  std::array<const char*, kMost> data{};
  std::array<int, kMost> lengths{};
  std::array<int, kMost> binary{};
  binary.fill(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    types.at(i) = values[i].type;
    data.at(i) = values[i].bytes.data();
    lengths.at(i) = static_cast<int>(values[i].bytes.size());
  }
  return check(connection,
               PgResult(PQexecParams(connection, sql, static_cast<int>(values.size()), types.data(),
                                     data.data(), lengths.data(), binary.data(), /*binary*/ 1)));
}

std::int64_t number_of(const PgResult& result, int row, int column) {
  const char* bytes = PQgetvalue(result.get(), row, column);
  std::uint64_t number = 0;
  for (int i = 0; i < PQgetlength(result.get(), row, column); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<std::int64_t>(number);
}

std::string_view bytes_of(const PgResult& result, int row, int column) {
  return {PQgetvalue(result.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result.get(), row, column))};
}

std::size_t rows_of(const PgResult& result) {
  return std::strtoull(PQcmdTuples(result.get()), nullptr, 10);
}

}  // namespace hapax::bench
