// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/handshake.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"

#include <algorithm>
#include <variant>

// The window in which a provider may send a secret, and the results of handshakes.
namespace hapax::admin {

namespace {

constexpr std::string_view kWriteHandshake =
    R"(write {"for_s":600} or {"for_s":600,"tenant":"..."})";

struct HandshakeRequest {
  std::chrono::seconds time{};
  std::string tenant;
};

Result<HandshakeRequest> read_handshake_request(std::string_view body) {
  HAPAX_TRY_ASSIGN(members, Members::read_strictly(body, kWriteHandshake, {"for_s", "tenant"}));
  HAPAX_TRY_ASSIGN(time, members.number("for_s", 0, gateway::kMaxWindow.count()));
  if (!time) return members.bad("for_s is required");
  HAPAX_TRY_ASSIGN(tenant, members.text("tenant"));
  return HandshakeRequest{std::chrono::seconds(*time), tenant.value_or("")};
}

// The provisioned secrets of the source, or an error.
std::variant<std::shared_ptr<gateway::ProvisionedSecrets>, http::Reply> find(
    const ApiContext& context, const Call& call, const std::string& tenant) {
  const std::string name(call.argument);
  const auto& sources = context.config.sources;
  const auto view = std::find_if(sources.begin(), sources.end(),
                                 [&](const SourceView& each) { return each.name == name; });
  if (view == sources.end()) return http::problem(http::Refusal::source_unknown);
  const bool known = tenant.empty() ? view->unnamed
                                    : std::find(view->tenants.begin(), view->tenants.end(),
                                                tenant) != view->tenants.end();
  if (!known) return http::problem(http::Refusal::tenant_unknown);
  auto provisioned = context.handshakes.find(tenant.empty() ? name : name + '/' + tenant);
  if (provisioned) return provisioned;
  return http::problem(http::Refusal::bad_request,
                       "the provider of this source has no such handshake");
}

http::Reply status_of(const Call& call, const std::string& tenant,
                      const gateway::ProvisionedSecrets& provisioned) {
  const gateway::ProvisionedSecrets::Status status = provisioned.status();
  JsonObject answer;
  answer.text("source", call.argument)
      .text("tenant", tenant)
      .time_or_null("open_until", status.open_until)
      .number("secrets", static_cast<std::int64_t>(status.secrets))
      .time_or_null("taken_at", status.taken_at)
      .json("confirm_urls", json_texts(status.confirm_urls));
  return ok(answer.done());
}

}  // namespace

Result<http::Reply> show_handshake(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(query, Query::parse(call.query, {"tenant"}));
  const std::string tenant(query.text("tenant").value_or(""));
  const auto found = find(context, call, tenant);
  if (const auto* reply = std::get_if<http::Reply>(&found)) return *reply;
  return status_of(call, tenant, *std::get<std::shared_ptr<gateway::ProvisionedSecrets>>(found));
}

Result<http::Reply> open_handshake(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(asked, read_handshake_request(call.body));
  const auto found = find(context, call, asked.tenant);
  if (const auto* reply = std::get_if<http::Reply>(&found)) return *reply;
  gateway::ProvisionedSecrets& provisioned =
      *std::get<std::shared_ptr<gateway::ProvisionedSecrets>>(found);
  HAPAX_TRY(provisioned.open(asked.time));
  return status_of(call, asked.tenant, provisioned);
}

}  // namespace hapax::admin
