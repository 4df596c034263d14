// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/json_object.hpp"
#include "admin/query.hpp"
#include "async/delivery_notifier.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <vector>

namespace hapax::admin {

namespace {

std::string rate_json(const DestinationView* view) {
  if (view == nullptr || !view->rate) return "null";
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), *view->rate);
  return {text.data(), written.ptr};
}

std::optional<std::int64_t> age(const ApiContext& context, const std::optional<WallTime>& due) {
  if (!due) return std::nullopt;
  const auto past = context.clock.wall() - *due;
  if (past.count() < 0) return std::nullopt;  // not due yet
  return std::chrono::duration_cast<std::chrono::seconds>(past).count();
}

// `view` is null if the configuration does not define the destination.
std::string destination_json(const ApiContext& context, const std::string& name,
                             const DestinationView* view, const store::DestinationStats& stats,
                             bool paused) {
  const std::optional<DestinationStatus> status = context.status(name);
  std::optional<std::int64_t> under_way;
  if (status) under_way = static_cast<std::int64_t>(status->under_way);
  JsonObject json;
  json.text("name", name)
      .text_or_null("kind", view == nullptr ? std::string() : view->kind)
      .flag("defined", view != nullptr)
      .flag("paused", paused)
      .number("pending", static_cast<std::int64_t>(stats.pending))
      .number("leased", static_cast<std::int64_t>(stats.leased))
      .number("dead", static_cast<std::int64_t>(stats.dead))
      .number("superseded", static_cast<std::int64_t>(stats.superseded))
      .number("cancelled", static_cast<std::int64_t>(stats.cancelled))
      .time_or_null("oldest_due_at", stats.oldest_due)
      .number_or_null("oldest_age_s", age(context, stats.oldest_due))
      .text_or_null("breaker", status ? status->breaker : std::string())
      .number_or_null("under_way", under_way)
      .number_or_null("concurrency", view == nullptr ? std::nullopt : view->concurrency)
      .json("rate_per_s", rate_json(view));
  return json.done();
}

Result<http::Reply> set_paused(const ApiContext& context, const Call& call, bool paused) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(names, context.catalog.names(store::NameKind::destination));
  const auto found = std::find_if(names.begin(), names.end(), [&](const store::KnownName& each) {
    return each.name == call.argument;
  });
  if (found == names.end()) {
    return http::problem(404, "destination-unknown", "unknown destination");
  }
  const DestinationNo no(found->number);
  HAPAX_TRY(context.catalog.pause(no, paused));
  if (!paused) context.notifier.notify(no);
  return ok(JsonObject().text("name", found->name).flag("paused", paused).done());
}

}  // namespace

Result<http::Reply> list_destinations(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  HAPAX_TRY_ASSIGN(names, context.catalog.names(store::NameKind::destination));
  HAPAX_TRY_ASSIGN(stats, context.catalog.stats());
  HAPAX_TRY_ASSIGN(paused, context.catalog.paused());
  std::map<std::int64_t, store::DestinationStats> counts;
  for (const store::DestinationStats& each : stats.destinations) {
    counts[each.destination.value()] = each;
  }
  std::vector<std::string> destinations;
  for (const store::KnownName& each : names) {
    const bool rests =
        std::find(paused.begin(), paused.end(), DestinationNo(each.number)) != paused.end();
    destinations.push_back(destination_json(context, each.name,
                                            context.config.find(DestinationNo(each.number)),
                                            counts[each.number], rests));
  }
  return ok(JsonObject().json("destinations", json_list(destinations)).done());
}

Result<http::Reply> pause_destination(const ApiContext& context, const Call& call) {
  return set_paused(context, call, true);
}

Result<http::Reply> resume_destination(const ApiContext& context, const Call& call) {
  return set_paused(context, call, false);
}

}  // namespace hapax::admin
