// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/event_json.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/query.hpp"
#include "base/hex.hpp"
#include "base/json_text.hpp"
#include "base/try.hpp"
#include "http/problem.hpp"
#include "model/headers.hpp"

namespace hapax::admin {

namespace {

std::string delivery_text(EventNo event, DeliveryNo delivery) {
  return to_text(DeliveryRef{event, delivery});
}

std::string delivery_json(EventNo event, const store::DeliveryRow& row, const Names& destinations) {
  const bool leased = row.state == DeliveryState::leased;
  const std::optional<WallTime> none;
  JsonObject json;
  json.text("delivery", delivery_text(event, row.no))
      .text("destination", destinations.of(row.to.value()))
      .text("status", name(row.state))
      .text_or_null("reason", name(row.reason))
      .number("attempts", row.attempts)
      .number("abandons", row.abandons)
      .time_or_null("due_at", leased ? none : row.due)
      .time_or_null("lease_until", leased ? row.due : none)
      .time_or_null("ended_at", row.ended)
      .text_or_null("replay_of", row.replay_of ? delivery_text(event, *row.replay_of) : "")
      .flag("waiting", row.waiting)
      .flag("blocking", row.blocking);
  return json.done();
}

std::string attempt_json(EventNo event, const Attempt& attempt) {
  JsonObject json;
  json.text("delivery", delivery_text(event, attempt.delivery))
      .number("fence", attempt.fence.value())
      .text("outcome", name(attempt.outcome))
      .time("at", attempt.when)
      .number("took_ms", attempt.took.count())
      .time("settled_at", attempt.settled);
  if (attempt.status == 0) {
    json.json("http_status", "null");
  } else {
    json.number("http_status", attempt.status);
  }
  json.text("error", attempt.error).text("excerpt", attempt.excerpt);
  return json.done();
}

std::string variant_json(const store::Variant& variant) {
  JsonObject json;
  json.text("sha256", to_hex(view(variant.digest))).time("at", variant.at);
  return json.done();
}

std::string detail_json(const store::EventDetail& detail, const Names& sources,
                        const Names& destinations) {
  const EventNo event = detail.row.no;
  const auto delivery = [&](const auto& each) { return delivery_json(event, each, destinations); };
  const auto attempt = [&](const auto& each) { return attempt_json(event, each); };
  JsonObject json = event_json(detail.row, sources);
  json.json("headers", headers_json(detail.headers))
      .json("deliveries", json_rows(detail.deliveries, delivery))
      .json("attempts", json_rows(detail.attempts, attempt))
      .json("variants", json_rows(detail.variants, variant_json));
  return json.done();
}

}  // namespace

std::string headers_json(std::string_view encoded) {
  return headers_json(decode_headers(encoded).value_or(std::vector<Header>()));
}

std::string headers_json(const std::vector<Header>& headers) {
  return json_rows(headers, [](const Header& each) {
    return '[' + json_string(each.name) + ',' + json_string(each.value) + ']';
  });
}

Result<http::Reply> show_event(const ApiContext& context, const Call& call) {
  HAPAX_TRY(Query::parse(call.query, {}));
  const std::optional<EventNo> number = event_from(call.argument);
  if (!number) return http::problem(http::Refusal::not_found, "No event has this id.");
  HAPAX_TRY_ASSIGN(found, context.catalog.event(*number));
  if (found.presence == store::Presence::gone) {
    return http::problem(http::Refusal::body_gone, "The event has been removed by retention.");
  }
  if (!found.value) return http::problem(http::Refusal::not_found, "No event has this id.");
  HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
  HAPAX_TRY_ASSIGN(destinations, Names::read(context.catalog, store::NameKind::destination));
  return ok(detail_json(*found.value, sources, destinations));
}

}  // namespace hapax::admin
