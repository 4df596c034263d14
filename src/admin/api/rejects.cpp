// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/api/reject_json.hpp"
#include "admin/api/reply.hpp"
#include "admin/api/resources.hpp"
#include "admin/query.hpp"
#include "base/try.hpp"

#include <vector>

namespace hapax::admin {

namespace {

Result<store::RejectQuery> read_query(const Query& query) {
  store::RejectQuery wanted;
  wanted.filter.reason = query.text("reason").value_or("");
  HAPAX_TRY_TO(wanted.filter.since, query.time("since"));
  HAPAX_TRY_TO(wanted.filter.until, query.time("until"));
  if (const auto text = query.text("after")) {
    const std::optional<RejectNo> before = reject_from(*text);
    if (!before) {
      return Error(Code::invalid_argument, "after: must be the 'next' of the previous page");
    }
    wanted.before = *before;
  }
  HAPAX_TRY_TO(wanted.limit, query.count("limit", 1, store::kMaxPage, kDefaultLimit));
  return wanted;
}

std::string counts_json(const store::RejectCounts& counts, const Names& sources) {
  JsonObject json;
  json.text("source", sources.of(counts.source.value()))
      .number("kept", static_cast<std::int64_t>(counts.kept))
      .number("bytes", static_cast<std::int64_t>(counts.bytes))
      .number("evicted", static_cast<std::int64_t>(counts.evicted))
      .number("dropped", static_cast<std::int64_t>(counts.dropped));
  return json.done();
}

}  // namespace

JsonObject reject_json(const store::RejectRow& row, const Names& sources) {
  JsonObject json;
  json.text("reject", to_text(row.no))
      .text("source", sources.of(row.source.value()))
      .text("tenant", row.tenant)
      .text("reason", row.reason)
      .text("detail", row.detail)
      .time("received_at", row.received)
      .text("address", row.address)
      .number("size", static_cast<std::int64_t>(row.body_size));
  return json;
}

Result<http::Reply> list_rejects(const ApiContext& context, const Call& call) {
  HAPAX_TRY_ASSIGN(
      query, Query::parse(call.query, {"source", "reason", "since", "until", "after", "limit"}));
  HAPAX_TRY_ASSIGN(sources, Names::read(context.catalog, store::NameKind::source));
  HAPAX_TRY_ASSIGN(wanted, read_query(query));
  bool none = false;  // the source is unknown
  if (const auto name = query.text("source")) {
    const std::optional<std::int64_t> number = sources.find(*name);
    if (number) wanted.filter.source = SourceNo(*number);
    none = !number;
  }
  store::RejectPage page;
  std::vector<store::RejectCounts> counts;
  if (!none) {
    HAPAX_TRY(check(wanted));
    HAPAX_TRY_TO(page, context.rejects.rejects(wanted));
    HAPAX_TRY_ASSIGN(all, context.rejects.reject_counts());
    std::erase_if(all, [source = wanted.filter.source](const store::RejectCounts& each) {
      return source && each.source != *source;
    });
    counts = std::move(all);
  }
  const auto row = [&](const store::RejectRow& each) { return reject_json(each, sources).done(); };
  return ok(
      JsonObject()
          .json("rejects", json_rows(page.rejects, row))
          .json("counts",
                json_rows(counts, [&](const auto& each) { return counts_json(each, sources); }))
          .text_or_null("next", page.next ? to_text(*page.next) : std::string())
          .done());
}

}  // namespace hapax::admin
