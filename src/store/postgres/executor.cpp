// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/executor.hpp"

#include "store/postgres/errors.hpp"

#include <libpq-fe.h>

namespace hapax::store::postgres {

namespace {

Result<QueryResult> check_result_or_null(PGconn* connection, PGresult* result,
                                         std::string_view doing) {
  if (result == nullptr) return error_of("", PQerrorMessage(connection), doing);
  return check_result(result, doing);
}

}  // namespace

Result<QueryResult> CallersConnection::run(const char* sql, std::string_view doing) {
  return check_result_or_null(connection_, PQexec(connection_, sql), doing);
}

Result<QueryResult> CallersConnection::run(const char* sql, const Parameters& parameters,
                                           std::string_view doing) {
  const std::vector<const char*> values = parameters.values();
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats = parameters.formats();
  return check_result_or_null(
      connection_,
      PQexecParams(connection_, sql, parameters.count(), parameters.types(), values.data(),
                   lengths.data(), formats.data(), /*text*/ 0),
      doing);
}

}  // namespace hapax::store::postgres
