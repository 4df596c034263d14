// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "http/problem.hpp"

#include <vector>

namespace hapax::admin {

Result<http::Reply> show_health(const ApiContext&, const Call&) {
  return ok(JsonObject().text("status", "ok").done());
}

// Needs no token, so the reasons are fixed words and not error texts of the store.
Result<http::Reply> show_readiness(const ApiContext& context, const Call&) {
  std::vector<std::string> reasons;
  const bool reachable = context.state.store_reachable && context.catalog.paused().has_value();
  if (!reachable) reasons.emplace_back("store-unreachable");
  if (context.state.stopping) reasons.emplace_back("stopping");
  std::vector<std::string> observed;
  for (const SourceView& each : context.config.sources) {
    if (!each.enforce) observed.push_back(each.name);
  }
  JsonObject json;
  json.flag("ready", reasons.empty()).json("reasons", json_texts(reasons));
  if (!observed.empty()) json.json("observe", json_texts(observed));
  http::Reply reply = ok(json.done());
  if (reasons.empty()) return reply;
  reply.status = 503;
  reply.headers.push_back(http::retry_after());
  return reply;
}

}  // namespace hapax::admin
