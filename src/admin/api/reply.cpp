// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"

#include "http/problem.hpp"

#include <utility>

namespace hapax::admin {

http::Reply ok(std::string json) {
  json += '\n';
  return {.status = 200, .content_type = "application/json", .body = std::move(json)};
}

http::Reply failure(const Error& error) {
  if (error.code() == Code::invalid_argument) {
    return http::problem(http::Refusal::bad_request, error.detail());
  }
  const CodeInfo& row = info(error.code());
  return http::problem(row.http_status, row.name, error.detail());
}

}  // namespace hapax::admin
