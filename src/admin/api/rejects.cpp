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
  HAPAX_TRY_ASSIGN(since, query.time("since"));
  wanted.filter.since = since;
  HAPAX_TRY_ASSIGN(until, query.time("until"));
  wanted.filter.until = until;
  if (const auto text = query.text("after")) {
    const std::optional<RejectNo> before = reject_from(*text);
    if (!before) {
      return Error(Code::invalid_argument, "after: must be the 'next' of the previous page");
    }
    wanted.before = *before;
  }
  HAPAX_TRY_ASSIGN(limit, query.count("limit", 1, store::kMaxPage, kDefaultLimit));
  wanted.limit = limit;
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

Result<std::string> listed_rejects(const ApiContext& context, const Call& call) {
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
  std::vector<std::string> counts;
  if (!none) {
    HAPAX_TRY(check(wanted));
    HAPAX_TRY_ASSIGN(found, context.rejects.rejects(wanted));
    page = std::move(found);
    HAPAX_TRY_ASSIGN(all, context.rejects.reject_counts());
    for (const store::RejectCounts& each : all) {
      const bool ours = !wanted.filter.source || each.source == *wanted.filter.source;
      if (ours) counts.push_back(counts_json(each, sources));
    }
  }
  std::vector<std::string> rejects;
  for (const store::RejectRow& each : page.rejects) {
    rejects.push_back(reject_json(each, sources).done());
  }
  return JsonObject()
      .json("rejects", json_list(rejects))
      .json("counts", json_list(counts))
      .text_or_null("next", page.next ? to_text(*page.next) : std::string())
      .done();
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

http::Reply list_rejects(const ApiContext& context, const Call& call) {
  Result<std::string> json = listed_rejects(context, call);
  return json ? ok(*std::move(json)) : failure(json.error());
}

}  // namespace hapax::admin
