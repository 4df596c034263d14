// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/event_json.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/query.hpp"
#include "base/hex.hpp"
#include "base/try.hpp"

#include <iterator>

namespace hapax::admin {

namespace {

// A store may return an incomplete page if few events match. Number of store calls to fill a page
// before it is returned with a `next`.
constexpr int kMaxTries = 8;

struct Wanted {
  store::EventQuery query;
  bool none = false;  // the source is unknown
};

Result<EventNo> cursor_in(const Query& query) {
  const std::optional<std::string_view> text = query.text("after");
  if (!text) return store::kNewest;
  const std::optional<EventNo> before = event_from(*text);
  if (before) return *before;
  return Error(Code::invalid_argument, "after: must be the 'next' of the previous page");
}

Result<Wanted> read_query(const Query& query, const Names& sources) {
  Wanted wanted;
  store::EventFilter& filter = wanted.query.filter;
  if (const auto name = query.text("source")) {
    const std::optional<std::int64_t> number = sources.find(*name);
    if (number) filter.source = SourceNo(*number);
    wanted.none = !number;
  }
  filter.tenant = query.text("tenant");
  filter.id = query.text("id");
  filter.type = query.text("type");
  filter.order_key = query.text("order_key");
  HAPAX_TRY_TO(filter.status, query.state("status"));
  HAPAX_TRY_TO(filter.since, query.time("since"));
  HAPAX_TRY_TO(filter.until, query.time("until"));
  HAPAX_TRY_TO(wanted.query.before, cursor_in(query));
  HAPAX_TRY_TO(wanted.query.limit, query.count("limit", 1, store::kMaxPage, kDefaultLimit));
  return wanted;
}

Result<store::EventPage> read_page(store::Catalog& catalog, store::EventQuery query) {
  HAPAX_TRY(check(query));
  store::EventPage page;
  for (int tries = 0; tries < kMaxTries && query.limit > 0; ++tries) {
    HAPAX_TRY_ASSIGN(more, catalog.events(query));
    query.limit -= more.events.size();
    page.next = more.next;
    page.events.insert(page.events.end(), std::make_move_iterator(more.events.begin()),
                       std::make_move_iterator(more.events.end()));
    if (!more.next) break;
    query.before = *more.next;
  }
  return page;
}

std::string page_json(const store::EventPage& page, const Names& sources) {
  const auto row = [&](const store::EventRow& each) { return event_json(each, sources).done(); };
  return JsonObject()
      .json("events", json_rows(page.events, row))
      .text_or_null("next", page.next ? to_text(*page.next) : std::string())
      .done();
}

}  // namespace

JsonObject event_json(const store::EventRow& row, const Names& sources) {
  JsonObject json;
  json.text("event", to_text(row.no))
      .text("source", sources.of(row.source.value()))
      .text("tenant", row.tenant)
      .text("id", row.id)
      .text("type", row.type)
      .text("order_key", row.order_key)
      .number_or_null("version", row.version)
      .time("received_at", row.received)
      .text("status", name(row.status))
      .number("size", static_cast<std::int64_t>(row.body_size))
      .text("sha256", to_hex(view(row.digest)))
      .number("duplicates", static_cast<std::int64_t>(row.duplicates))
      .text_or_null("would", name(row.would));
  return json;
}

Result<http::Reply> list_events(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(
      query, Query::parse(call.query, {"source", "tenant", "status", "type", "id", "order_key",
                                       "since", "until", "after", "limit"}));
  HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
  HAPAX_TRY_ASSIGN(wanted, read_query(query, sources));
  if (wanted.none) return ok(page_json({}, sources));
  HAPAX_TRY_ASSIGN(page, read_page(context.catalog, wanted.query));
  return ok(page_json(page, sources));
}

}  // namespace hapax::admin
