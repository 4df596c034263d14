// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/members.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"
#include "deliver/listeners.hpp"
#include "http/problem.hpp"

#include <algorithm>

// Registration of listeners (`hapax listen`).
namespace hapax::admin {

namespace {

constexpr std::string_view kWriteListen =
    R"(write {"name":"...","sources":["..."]}; without sources, it gets events of all sources)";

bool serves(const ConfigView& config, std::string_view source) {
  return std::any_of(config.sources.begin(), config.sources.end(),
                     [&](const SourceView& each) { return each.name == source; });
}

bool is_configured(const ConfigView& config, std::string_view destination) {
  const DestinationView* const found = config.find(destination);
  return found != nullptr && !found->listen;
}

}  // namespace

Result<http::Reply> register_listener(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(members, Members::read(call.body, kWriteListen, {"name", "sources"}));
  HAPAX_TRY(members.no_nulls());  // null (an unset variable) must not mean every source
  HAPAX_TRY_ASSIGN(name, members.text("name"));
  if (!name || !deliver::is_listener_name(*name)) {
    return members.bad("name must be 1 to 64 letters, digits, '.', '_' or '-'");
  }
  HAPAX_TRY_ASSIGN(sources, members.texts("sources"));
  if (is_configured(context.config, *name)) {
    return http::problem(kConflict, "name-taken",
                         "A configured destination has this name. Choose another.");
  }
  HAPAX_TRY_ASSIGN(taken, context.listeners.is_taken(*name));
  if (taken) {
    return http::problem(
        kConflict, "name-taken",
        "A former destination of this name still has pending or dead deliveries. Choose another.");
  }
  deliver::Listener wanted{.name = *name, .sources = sources.value_or(std::vector<std::string>())};
  for (const std::string& each : wanted.sources) {
    if (!serves(context.config, each)) return http::problem(http::Refusal::source_unknown);
  }
  HAPAX_TRY_ASSIGN(added, context.listeners.add(std::move(wanted)));
  return ok(JsonObject()
                .text("name", added.name)
                .json("sources", json_texts(added.sources))
                .time("until", added.seen + deliver::kDropListener)
                .done());
}

Result<http::Reply> end_listener(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  bool was_there = false;
  if (deliver::is_listener_name(call.argument)) {
    HAPAX_TRY_TO(was_there, context.listeners.remove(call.argument));
  }
  if (!was_there) return http::problem(http::Refusal::not_found, "No listener has this name.");
  return ok(JsonObject().text("name", call.argument).done());
}

}  // namespace hapax::admin
