// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/rejects.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"
#include "store/sqlite/times.hpp"

namespace hapax::store::sqlite {

namespace {

// In the order of HAPAX_REJECT_ROW.
RejectRow read_row(const Run& row) {
  return {RejectNo(row.number(0)),
          SourceNo(row.number(1)),
          std::string(row.bytes(2)),
          std::string(row.bytes(3)),
          std::string(row.bytes(4)),
          wall_of_us(row.number(5)),
          static_cast<std::size_t>(row.number(6))};
}

}  // namespace

Rejects::Rejects(sqlite3* db)
    : insert_(db, kInsertReject),
      trim_(db, kTrimRejects),
      remove_(db, kRemoveReject),
      page_(db, kRejects),
      page_of_(db, kRejectsOf),
      read_(db, kReadReject) {}

Result<void> Rejects::add(const Reject& reject) {
  {
    Run row(insert_);
    row.bind(reject.no.value()).bind(reject.source.value()).bind(reject.tenant);
    row.bind(reject.reason).bind(reject.detail).bind(to_us(reject.received));
    row.bind(reject.method).bind(reject.url).bind(reject.headers);
    row.bind(reject.proof).bind(reject.body);
    HAPAX_TRY_ASSIGN(added, row.change("keep a reject"));
    if (added == 0) return {};
  }
  Run trim(trim_);
  trim.bind(reject.source.value()).bind(std::int64_t{kMaxRejects});
  HAPAX_TRY(trim.change("keep a reject"));
  return {};
}

Result<bool> Rejects::remove(RejectNo number) {
  HAPAX_TRY_ASSIGN(removed, Run(remove_).bind(number.value()).change("remove a reject"));
  return removed == 1;
}

Result<RejectPage> Rejects::page(std::optional<SourceNo> source, RejectNo before,
                                 std::size_t limit) {
  RejectPage page;
  Run rows(source ? page_of_ : page_);
  rows.bind(before.value()).bind(static_cast<std::int64_t>(limit) + 1);
  if (source) rows.bind(source->value());
  for (;;) {
    HAPAX_TRY_ASSIGN(more, rows.step("list rejects"));
    if (!more) return page;
    if (page.rejects.size() == limit) {
      page.next = page.rejects.back().no;
      return page;
    }
    page.rejects.push_back(read_row(rows));
  }
}

Result<std::optional<StoredReject>> Rejects::read(RejectNo number) {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.bind(number.value()).step("read a reject"));
  if (!found) return std::optional<StoredReject>();
  return std::optional(StoredReject{read_row(row), std::string(row.bytes(7)),
                                    std::string(row.bytes(8)), std::string(row.bytes(9)),
                                    std::string(row.bytes(10)), std::string(row.bytes(11))});
}

}  // namespace hapax::store::sqlite
