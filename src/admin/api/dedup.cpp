// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/query.hpp"
#include "base/claim_key.hpp"
#include "base/try.hpp"
#include "store/retry.hpp"

namespace hapax::admin {

namespace {

constexpr std::string_view kWriteDedup = R"(write {"scope":"...","id":"...","ttl_s":2592000})";
constexpr std::int64_t kMaxTtlSeconds =
    std::chrono::duration_cast<std::chrono::seconds>(kMaxTtl).count();

struct DedupCall {
  std::string scope;
  std::string id;
  std::chrono::milliseconds ttl = kDefaultTtl;
};

Result<DedupCall> read_dedup_call(std::string_view body) {
  HAPAX_TRY_ASSIGN(members, Members::read_strictly(body, kWriteDedup, {"scope", "id", "ttl_s"}));
  DedupCall asked;
  HAPAX_TRY_TO(asked.scope, members.needed_text("scope"));
  HAPAX_TRY_TO(asked.id, members.needed_text("id"));
  HAPAX_TRY_ASSIGN(ttl, members.number("ttl_s", 1, kMaxTtlSeconds, "of seconds"));
  if (ttl) asked.ttl = std::chrono::seconds(*ttl);
  return asked;
}

Result<std::string> claimed(const ApiContext& context, const DedupCall& asked) {
  HAPAX_TRY(check(DedupRequest{.scope = asked.scope, .id = asked.id, .ttl = asked.ttl}));
  store::DedupItem item{claim_key(ClaimKind::id, asked.scope, asked.id), {}, asked.ttl};
  context.random.fill(item.token.bytes);
  HAPAX_TRY_ASSIGN(
      dedup, store::retry_if_unknown([&] { return context.claims.dedup(std::span(&item, 1)); }));
  return JsonObject().flag("duplicate", dedup.front().duplicate).done();
}

}  // namespace

Result<http::Reply> claim_id(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(asked, read_dedup_call(call.body));
  if (!call.rights.may(Right::dedup, asked.scope)) return forbidden("dedup:" + asked.scope);
  HAPAX_TRY_ASSIGN(answer, claimed(context, asked));
  return ok(std::move(answer));
}

}  // namespace hapax::admin
