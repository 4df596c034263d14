// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"

namespace hapax::admin {

namespace {

using http::Refusal;

Result<store::BodyOf> which_of(const Query& query) {
  const std::optional<std::string_view> variant = query.text("variant");
  if (!variant) return store::BodyOf::event;
  if (*variant == "last") return store::BodyOf::last_variant;
  return Error(Code::invalid_argument, "variant: must be 'last' or omitted");
}

}  // namespace

Result<http::Reply> send_body(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(query, Query::parse(call.query, {"variant"}));
  HAPAX_TRY_ASSIGN(which, which_of(query));
  const std::optional<EventNo> number = event_from(call.argument);
  if (!number) return http::problem(Refusal::not_found, "No event has this id.");
  HAPAX_TRY_ASSIGN(found, context.catalog.body(*number, which));
  if (found.presence == store::Presence::gone) return http::problem(Refusal::body_gone);
  if (!found.value) {
    return http::problem(Refusal::not_found, which == store::BodyOf::event
                                                 ? "No event has this id."
                                                 : "The event has no changed body.");
  }
  http::Reply reply{
      .status = 200, .content_type = "application/octet-stream", .body = *std::move(found.value)};
  // The bytes are untrusted: a browser must not render them as a page of this server.
  reply.headers.push_back({"Content-Disposition", "attachment"});
  return reply;
}

}  // namespace hapax::admin
