// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/event_json.hpp"
#include "admin/api/reject_json.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "gateway/readmit.hpp"
#include "http/problem.hpp"

namespace hapax::admin {

namespace {

constexpr std::string_view kNone = "No reject has this id; it may have been admitted or evicted.";

Result<std::optional<store::StoredReject>> find(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<RejectNo> number = reject_from(call.argument);
  if (!number) return std::optional<store::StoredReject>();
  return context.rejects.reject(*number);
}

// Verification result under the current configuration.
void add_finding(JsonObject& json, const ApiContext& context, const store::StoredReject& stored) {
  const gateway::Readmission::Diagnosis diagnosis = context.readmission.diagnose(stored);
  JsonObject now;
  now.flag("admissible", !diagnosis.invalid)
      .text_or_null("reason", diagnosis.invalid ? diagnosis.invalid->reason : "")
      .text_or_null("detail", diagnosis.invalid ? diagnosis.invalid->detail : "");
  json.json("now", now.done()).json("explanation", json_texts(diagnosis.explanation));
}

}  // namespace

Result<http::Reply> show_reject(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(found, find(context, call));
  if (!found) return http::problem(http::Refusal::not_found, kNone);
  HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
  JsonObject json = reject_json(found->row, sources);
  json.text("method", found->method)
      .text("target", found->url)
      .json("headers", headers_json(found->headers));
  add_finding(json, context, *found);
  return ok(json.done());
}

Result<http::Reply> send_reject_body(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(found, find(context, call));
  if (!found) return http::problem(http::Refusal::not_found, kNone);
  http::Reply reply{
      .status = 200, .content_type = "application/octet-stream", .body = std::move(found->body)};
  // The bytes are untrusted: a browser must not render them as a page of this server.
  reply.headers.push_back({"Content-Disposition", "attachment"});
  return reply;
}

}  // namespace hapax::admin
