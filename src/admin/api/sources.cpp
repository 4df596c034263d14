// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <vector>

namespace hapax::admin {

namespace {

std::int64_t in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

std::optional<WallTime> last_seen(const store::Stats& stats, SourceNo source) {
  const auto found =
      std::find_if(stats.sources.begin(), stats.sources.end(),
                   [&](const store::SourceStats& each) { return each.source == source; });
  return found == stats.sources.end() ? std::nullopt : std::optional(found->last_seen);
}

// In the order of the configuration. Does not contain the secrets themselves.
std::string secrets_json(const SourceView& source) {
  std::vector<std::string> list;
  for (const SourceView::Secrets& each : source.secrets) {
    for (std::size_t i = 0; i < each.count; ++i) {
      list.push_back(JsonObject()
                         .text_or_null("tenant", each.tenant)
                         .time_or_null("last_used_at", each.use->last(i))
                         .done());
    }
  }
  return json_list(list);
}

std::string source_json(const SourceView& source, const store::Stats& stats) {
  JsonObject json;
  json.text("name", source.name)
      .text_or_null("preset", source.preset)
      .flag_or_null("id_signed", source.id_signed)
      .flag_or_null("time_signed", source.time_signed)
      .flag("splits", source.splits)
      .flag("enforce", source.enforce)
      .json("tenants", json_texts(source.tenants))
      .json("deliver_to", json_texts(source.deliver_to))
      .number("remember_s", in_seconds(source.remember))
      .number("keep_s", in_seconds(source.keep))
      .number("keep_dead_s", in_seconds(source.keep_dead))
      .time_or_null("last_seen_at", last_seen(stats, source.no))
      .json("secrets", secrets_json(source));
  return json.done();
}

}  // namespace

Result<http::Reply> list_sources(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(stats, context.catalog.stats());
  const auto row = [&](const SourceView& each) { return source_json(each, stats); };
  return ok(JsonObject().json("sources", json_rows(context.config.sources, row)).done());
}

}  // namespace hapax::admin
