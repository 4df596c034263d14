// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/catalog/rejects.hpp"

#include "base/try.hpp"
#include "store/reject_ring.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <limits>
#include <set>

namespace hapax::store::sqlite {

namespace {

// Reads the columns of HAPAX_REJECT_ROW.
RejectRow read_reject(const Run& row) {
  return {RejectNo(row.number(0)),
          SourceNo(row.number(1)),
          std::string(row.bytes(2)),
          std::string(row.bytes(3)),
          std::string(row.bytes(4)),
          wall_of_us(row.number(5)),
          static_cast<std::size_t>(row.number(6)),
          std::string(row.bytes(7))};
}

}  // namespace

RejectTable::RejectTable(sqlite3* db)
    : insert_(db, kInsertReject),
      totals_(db, kRejectTotals),
      held_(db, kHeldRejects),
      remove_(db, kRemoveReject),
      newest_(db, kRejects),
      oldest_(db, kOldestRejects),
      newest_of_(db, kRejectsOf),
      oldest_of_(db, kOldestRejectsOf),
      read_(db, kReadReject),
      count_(db, kCountRejects),
      counts_(db, kRejectCounts) {}

Result<std::size_t> RejectTable::add(const RejectBatch& batch) {
  std::set<SourceNo> sources;
  for (const Reject& each : batch.rejects) {
    HAPAX_TRY_ASSIGN(fresh, insert(each));
    if (fresh) sources.insert(each.source);
  }
  for (const DroppedRejects& each : batch.dropped) HAPAX_TRY(count(each.source, 0, each.count));
  std::size_t evicted = 0;
  for (const SourceNo each : sources) {
    HAPAX_TRY_ASSIGN(gone, trim(each, batch.ring));
    if (gone > 0) HAPAX_TRY(count(each, gone, 0));
    evicted += gone;
  }
  return evicted;
}

Result<bool> RejectTable::insert(const Reject& reject) {
  Run row(insert_);
  row.bind(reject.no.value()).bind(reject.source.value());
  row.bind(static_cast<std::int64_t>(size_of(reject))).bind(to_us(reject.received));
  row.bind(reject.address).bind(reject.tenant).bind(reject.reason).bind(reject.detail);
  row.bind(reject.method).bind(reject.url).bind(reject.headers);
  row.bind(reject.proof).bind(reject.body);
  HAPAX_TRY_ASSIGN(added, row.change("keep a reject"));
  return added == 1;
}

Result<std::size_t> RejectTable::trim(SourceNo source, const RejectRing& ring) {
  {
    Run totals(totals_);
    HAPAX_TRY(totals.bind(source.value()).step("count rejects"));
    const bool fits = totals.number(0) <= static_cast<std::int64_t>(ring.rejects) &&
                      totals.number(1) <= static_cast<std::int64_t>(ring.bytes);
    if (fits) return std::size_t{0};
  }
  std::vector<RetainedReject> held;
  {
    Run rows(held_);
    rows.bind(source.value());
    for (;;) {
      HAPAX_TRY_ASSIGN(more, rows.step("select rejects to evict"));
      if (!more) break;
      held.push_back({RejectNo(rows.number(0)), std::string(rows.bytes(1)),
                      static_cast<std::size_t>(rows.number(2))});
    }
  }
  const std::vector<RejectNo> gone = choose_evicted(std::move(held), ring);
  for (const RejectNo each : gone) HAPAX_TRY(remove(each));
  return gone.size();
}

Result<void> RejectTable::count(SourceNo source, std::size_t evicted, std::uint64_t dropped) {
  Run run(count_);
  run.bind(source.value()).bind(static_cast<std::int64_t>(evicted));
  HAPAX_TRY(run.bind(static_cast<std::int64_t>(dropped)).change("count rejects"));
  return {};
}

Result<bool> RejectTable::remove(RejectNo number) {
  HAPAX_TRY_ASSIGN(removed, Run(remove_).bind(number.value()).change("remove a reject"));
  return removed == 1;
}

Lazy& RejectTable::page_of(const RejectQuery& query) {
  if (query.filter.source) return query.oldest_first ? oldest_of_ : newest_of_;
  return query.oldest_first ? oldest_ : newest_;
}

Result<RejectPage> RejectTable::page(const RejectQuery& query) {
  using Limits = std::numeric_limits<std::int64_t>;
  const RejectFilter& filter = query.filter;
  RejectPage page;
  Run rows(page_of(query));
  filter.reason.empty() ? rows.bind_null() : rows.bind(filter.reason);
  rows.bind(filter.since ? to_us(*filter.since) : Limits::min());
  rows.bind(filter.until ? to_us(*filter.until) : Limits::max());
  rows.bind(query.after.value()).bind(query.before.value());
  rows.bind(static_cast<std::int64_t>(query.limit) + 1);
  if (filter.source) rows.bind(filter.source->value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("list rejects"));
    if (!more) return page;
    if (page.rejects.size() == query.limit) {
      page.next = page.rejects.back().no;
      return page;
    }
    page.rejects.push_back(read_reject(rows));
  }
}

Result<std::vector<RejectCounts>> RejectTable::counts() {
  std::vector<RejectCounts> counts;
  Run rows(counts_);
  const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.number(column)); };
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("count rejects"));
    if (!more) return counts;
    counts.push_back({SourceNo(rows.number(0)), count(1), count(2), count(3), count(4)});
  }
}

Result<std::optional<StoredReject>> RejectTable::read(RejectNo number) {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(number.value()).step("read a reject"));
  if (!found) return std::optional<StoredReject>();
  return std::optional(StoredReject{read_reject(row), std::string(row.bytes(8)),
                                    std::string(row.bytes(9)), std::string(row.bytes(10)),
                                    std::string(row.bytes(11)), std::string(row.bytes(12))});
}

}  // namespace hapax::store::sqlite
