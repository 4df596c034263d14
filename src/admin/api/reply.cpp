// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"

#include "admin/rights.hpp"
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

http::Reply forbidden(std::string_view right) {
  const std::string detail =
      right == name(Right::admin)
          ? "Only the admin token may do this."
          : "The token lacks the right '" + std::string(right) + "'; see allow of its [[token]].";
  return http::problem(http::Refusal::forbidden, detail);
}

}  // namespace hapax::admin
