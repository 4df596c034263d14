// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/executor.hpp"

#include "store/postgres/errors.hpp"

#include <libpq-fe.h>

namespace hapax::store::postgres {

namespace {

Result<Answer> judge(PGconn* connection, PGresult* raw, std::string_view doing) {
  if (raw == nullptr) return error_of("", PQerrorMessage(connection), doing);
  Answer answer(raw);
  const ExecStatusType status = PQresultStatus(raw);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return answer;
  const char* state = PQresultErrorField(raw, PG_DIAG_SQLSTATE);
  const char* primary = PQresultErrorField(raw, PG_DIAG_MESSAGE_PRIMARY);
  return error_of(state != nullptr ? state : "",
                  primary != nullptr ? primary : PQresultErrorMessage(raw), doing);
}

}  // namespace

Result<Answer> CallersConnection::run(const char* sql, std::string_view doing) {
  return judge(connection_, PQexec(connection_, sql), doing);
}

Result<Answer> CallersConnection::run(const char* sql, const Parameters& parameters,
                                      std::string_view doing) {
  const std::vector<const char*> values = parameters.values();
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats = parameters.formats();
  return judge(connection_,
               PQexecParams(connection_, sql, parameters.count(), parameters.types(), values.data(),
                            lengths.data(), formats.data(), /*text*/ 0),
               doing);
}

}  // namespace hapax::store::postgres
