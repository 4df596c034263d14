// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <array>
#include <limits>

namespace hapax::store::postgres {

namespace {

std::int64_t us_of(WallTime time) {
  return time.time_since_epoch().count();
}

RejectRow reject_row(const Row& row) {
  return {row.no<RejectNo>(0),
          row.no<SourceNo>(1),
          row.bytes(2),
          row.bytes(3),
          row.bytes(4),
          WallTime(std::chrono::microseconds(row.number(5))),
          static_cast<std::size_t>(row.number(6)),
          row.bytes(7)};
}

}  // namespace

Result<std::size_t> PostgresRejects::add_rejects(const RejectBatch& batch) {
  std::vector<std::int64_t> nos, sources, received, sizes, dropped_of, dropped;
  constexpr std::size_t kTexts = 9;
  std::array<std::vector<std::string_view>, kTexts> texts;
  for (const Reject& each : batch.rejects) {
    nos.push_back(each.no.value());
    sources.push_back(each.source.value());
    received.push_back(us_of(each.received));
    sizes.push_back(static_cast<std::int64_t>(size_of(each)));
    const std::array<std::string_view, kTexts> row{each.tenant, each.reason, each.detail,
                                                   each.method, each.url,    each.headers,
                                                   each.proof,  each.body,   each.address};
    for (std::size_t i = 0; i < row.size(); ++i) texts[i].push_back(row[i]);
  }
  for (const DroppedRejects& each : batch.dropped) {
    dropped_of.push_back(each.source.value());
    dropped.push_back(static_cast<std::int64_t>(each.count));
  }
  Parameters parameters;
  for (const auto* each : {&nos, &sources, &received, &sizes}) parameters.add_number_array(*each);
  for (const auto& each : texts) parameters.add_bytes_array(each);
  for (const auto* each : {&dropped_of, &dropped}) parameters.add_number_array(*each);
  parameters.add_number(static_cast<std::int64_t>(batch.ring.rejects));
  parameters.add_number(static_cast<std::int64_t>(batch.ring.bytes));
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kAddRejects, parameters, "keep rejects"));
  return static_cast<std::size_t>(Row(answer, 0).number(0));
}

Result<RejectPage> PostgresRejects::rejects(const RejectQuery& query) {
  using Limits = std::numeric_limits<std::int64_t>;
  const RejectFilter& filter = query.filter;
  Parameters parameters;
  parameters.add_number_or_null(filter.source ? std::optional(filter.source->value())
                                              : std::nullopt);
  parameters.add_bytes_or_null(filter.reason);
  parameters.add_number(filter.since ? us_of(*filter.since) : Limits::min());
  parameters.add_number(filter.until ? us_of(*filter.until) : Limits::max());
  parameters.add_number(query.after.value());
  parameters.add_number(query.before.value());
  parameters.add_number(static_cast<std::int64_t>(query.limit) + 1);
  const char* const sql = query.oldest_first ? kOldestRejects : kRejects;
  HAPAX_TRY_ASSIGN(answer, runner_.transact(sql, parameters, "list rejects"));
  RejectPage page;
  for (int i = 0; i < answer.rows(); ++i) {
    if (page.rejects.size() == query.limit) {
      page.next = page.rejects.back().no;
      break;
    }
    page.rejects.push_back(reject_row(Row(answer, i)));
  }
  return page;
}

Result<std::vector<RejectCounts>> PostgresRejects::reject_counts() {
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kRejectCounts, Parameters(), "count rejects"));
  std::vector<RejectCounts> counts;
  for (int i = 0; i < answer.rows(); ++i) {
    const Row row(answer, i);
    const auto count = [&](int column) { return static_cast<std::uint64_t>(row.number(column)); };
    counts.push_back({row.no<SourceNo>(0), count(1), count(2), count(3), count(4)});
  }
  return counts;
}

Result<std::optional<StoredReject>> PostgresRejects::reject(RejectNo number) {
  Parameters parameters;
  parameters.add_number(number.value());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kReject, parameters, "read a reject"));
  if (answer.rows() == 0) return std::optional<StoredReject>();
  const Row row(answer, 0);
  return std::optional(StoredReject{reject_row(row), row.bytes(8), row.bytes(9), row.bytes(10),
                                    row.bytes(11), row.bytes(12)});
}

Result<bool> PostgresRejects::remove_reject(RejectNo number) {
  Parameters parameters;
  parameters.add_number(number.value());
  HAPAX_TRY_ASSIGN(answer, runner_.transact(kRemoveReject, parameters, "remove a reject"));
  return answer.rows() == 1;
}

Result<void> PostgresRejects::remove_rejects(std::span<const RejectNo> numbers) {
  std::vector<std::int64_t> nos;
  for (const RejectNo each : numbers) nos.push_back(each.value());
  Parameters parameters;
  parameters.add_number_array(nos);
  HAPAX_TRY(runner_.transact(kRemoveRejects, parameters, "remove rejects"));
  return {};
}

}  // namespace hapax::store::postgres
