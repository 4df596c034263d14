// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/problem.hpp"

#include "base/json_text.hpp"

#include <array>

namespace hapax::http {

namespace {

struct Row {
  Refusal refusal;
  int status;
  std::string_view name;
  std::string_view detail;
};

constexpr std::array<Row, 19> kRows{{
    {Refusal::framing, 400, "framing", "The request framing is ambiguous."},
    {Refusal::bad_request, 400, "bad-request", "The request is malformed."},
    {Refusal::key_malformed, 400, "key-malformed",
     "Idempotency-Key must be a single header of 1 to 255 visible ASCII characters, quoted, or "
     "unquoted without quotes, commas and semicolons."},
    {Refusal::token_missing, 401, "token-missing", "Send 'Authorization: Bearer TOKEN'."},
    {Refusal::token_invalid, 401, "token-invalid", "The token is invalid."},
    {Refusal::forbidden, 403, "forbidden", "The token lacks the required right."},
    {Refusal::not_found, 404, "not-found", "Not found."},
    {Refusal::source_unknown, 404, "source-unknown", "No source has this name."},
    {Refusal::tenant_unknown, 404, "tenant-unknown", "The source has no tenant of this name."},
    {Refusal::method_not_allowed, 405, "method-not-allowed", "Method not allowed."},
    {Refusal::request_timeout, 408, "request-timeout", "The request timed out."},
    {Refusal::body_gone, 410, "body-gone", "The body has been removed by retention."},
    {Refusal::body_too_large, 413, "body-too-large", "The body exceeds the limit."},
    {Refusal::host_unknown, 421, "host-unknown", "The Host header does not match this server."},
    {Refusal::key_reused, 422, "key-reused",
     "This Idempotency-Key was used for a different request. Use a new key."},
    {Refusal::headers_too_large, 431, "headers-too-large",
     "The request line or headers exceed the limit."},
    {Refusal::store_unavailable, 503, "store-unavailable",
     "The request may not have been stored. Retry it."},
    {Refusal::queue_full, 503, "queue-full", "The queue is full. Retry later."},
    {Refusal::stopping, 503, "stopping", "The server is shutting down. Retry the request."},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].refusal) != i) return false;
  }
  return true;
}
static_assert(in_order(), "every Refusal has its row, in the order of the enum");

const Row& row_of(Refusal refusal) {
  return kRows[static_cast<std::size_t>(refusal)];
}

constexpr std::string_view kRetryAfterSeconds = "1";

}  // namespace

OwnedHeader retry_after() {
  return {"Retry-After", std::string(kRetryAfterSeconds)};
}

std::string_view name(Refusal refusal) {
  return row_of(refusal).name;
}

int status_of(Refusal refusal) {
  return row_of(refusal).status;
}

Reply problem(int status, std::string_view name, std::string_view detail) {
  Reply reply{.status = status, .content_type = "application/problem+json"};
  reply.body = R"({"type":"urn:hapax:error:)";
  reply.body += name;
  reply.body += R"(","title":)";
  append_json(reply.body, status_text(status));
  reply.body += ",\"status\":" + std::to_string(status) + ",\"detail\":";
  append_json(reply.body, detail);
  reply.body += "}\n";
  if (status == 503) reply.headers.push_back(retry_after());
  return reply;
}

Reply problem(Refusal refusal) {
  return problem(refusal, row_of(refusal).detail);
}

Reply problem(Refusal refusal, std::string_view detail) {
  return problem(row_of(refusal).status, row_of(refusal).name, detail);
}

}  // namespace hapax::http
