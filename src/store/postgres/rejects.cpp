// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/inbox.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

namespace hapax::store::postgres {

namespace {

RejectRow reject_row(const Row& row) {
  return {row.no<RejectNo>(0),
          row.no<SourceNo>(1),
          row.bytes(2),
          row.bytes(3),
          row.bytes(4),
          WallTime(std::chrono::microseconds(row.number(5))),
          static_cast<std::size_t>(row.number(6))};
}

}  // namespace

Result<void> Inbox::add_rejects(std::span<const Reject> rejects) {
  std::vector<std::int64_t> nos, sources, received;
  std::array<std::vector<std::string_view>, 8> texts;
  for (const Reject& each : rejects) {
    nos.push_back(each.no.value());
    sources.push_back(each.source.value());
    received.push_back(each.received.time_since_epoch().count());
    const std::array<std::string_view, 8> row{each.tenant, each.reason,  each.detail, each.method,
                                              each.url,    each.headers, each.proof,  each.body};
    for (std::size_t i = 0; i < row.size(); ++i) texts[i].push_back(row[i]);
  }
  Parameters parameters;
  for (const auto* each : {&nos, &sources, &received}) parameters.add_number_array(*each);
  for (const auto& each : texts) parameters.add_bytes_array(each);
  parameters.add_number(kMaxRejects);
  HAPAX_TRY(ask(kAddRejects, parameters, "keep rejects"));
  return {};
}

Result<RejectPage> Inbox::rejects(std::optional<SourceNo> source, RejectNo before,
                                  std::size_t limit) {
  Parameters parameters;
  parameters.add_number_or_null(source ? std::optional(source->value()) : std::nullopt);
  parameters.add_number(before.value());
  parameters.add_number(static_cast<std::int64_t>(limit) + 1);
  HAPAX_TRY_ASSIGN(answer, ask(kRejects, parameters, "list rejects"));
  RejectPage page;
  for (int i = 0; i < answer.rows(); ++i) {
    if (page.rejects.size() == limit) {
      page.next = page.rejects.back().no;
      break;
    }
    page.rejects.push_back(reject_row(Row(answer, i)));
  }
  return page;
}

Result<std::optional<StoredReject>> Inbox::reject(RejectNo number) {
  Parameters parameters;
  parameters.add_number(number.value());
  HAPAX_TRY_ASSIGN(answer, ask(kReject, parameters, "read a reject"));
  if (answer.rows() == 0) return std::optional<StoredReject>();
  const Row row(answer, 0);
  return std::optional(StoredReject{reject_row(row), row.bytes(7), row.bytes(8), row.bytes(9),
                                    row.bytes(10), row.bytes(11)});
}

Result<bool> Inbox::remove_reject(RejectNo number) {
  Parameters parameters;
  parameters.add_number(number.value());
  HAPAX_TRY_ASSIGN(answer, ask(kRemoveReject, parameters, "remove a reject"));
  return answer.rows() == 1;
}

}  // namespace hapax::store::postgres
