// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/names.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <vector>

namespace hapax::admin {

namespace {

// Empty if the destination is not configured: its deliveries stay pending until it is again.
std::string kind_of(const ConfigView& config, DestinationNo no) {
  const DestinationView* const found = config.find(no);
  return found == nullptr ? std::string() : found->kind;
}

std::string destination_json(const store::DestinationStats& stats, const Names& names,
                             const ConfigView& config) {
  JsonObject json;
  json.text("destination", names.of(stats.destination.value()))
      .text_or_null("kind", kind_of(config, stats.destination))
      .number("pending", static_cast<std::int64_t>(stats.pending))
      .number("leased", static_cast<std::int64_t>(stats.leased))
      .number("dead", static_cast<std::int64_t>(stats.dead))
      .number("superseded", static_cast<std::int64_t>(stats.superseded))
      .number("cancelled", static_cast<std::int64_t>(stats.cancelled))
      .time_or_null("oldest_due_at", stats.oldest_due);
  return json.done();
}

// Adds destinations without deliveries, so that they are listed with zeros.
void add_idle(std::vector<store::DestinationStats>& list, const ConfigView& config) {
  for (const DestinationView& each : config.destinations) {
    const bool there = std::any_of(
        list.begin(), list.end(),
        [&](const store::DestinationStats& known) { return known.destination == each.no; });
    if (!there) list.emplace_back().destination = each.no;
  }
}

}  // namespace

Result<http::Reply> show_stats(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(stats, context.catalog.stats());
  HAPAX_TRY_ASSIGN(source_names, Names::read(context.catalog, store::NameKind::source));
  HAPAX_TRY_ASSIGN(names, Names::read(context.catalog, store::NameKind::destination));
  add_idle(stats.destinations, context.config);
  const auto destination = [&](const store::DestinationStats& each) {
    return destination_json(each, names, context.config);
  };
  const auto source = [&](const store::SourceStats& each) {
    return JsonObject()
        .text("source", source_names.of(each.source.value()))
        .time("last_seen_at", each.last_seen)
        .done();
  };
  return ok(JsonObject()
                .json("destinations", json_rows(stats.destinations, destination))
                .json("sources", json_rows(stats.sources, source))
                .done());
}

}  // namespace hapax::admin
