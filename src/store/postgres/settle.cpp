// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>

namespace hapax::store::postgres {

namespace {

// The values of a disposition, as hapax._settle takes them. Its number is its index in the variant.
struct Carried {
  std::int64_t amount_ms = 0;
  std::int64_t reason = 0;
  std::int64_t flag = 0;
};

struct Carrying {
  Carried operator()(const Ack&) const { return {}; }
  Carried operator()(const Drop&) const { return {}; }
  Carried operator()(const RetryIn& retry) const {
    return {retry.delay.count(), 0, retry.sent ? 1 : 0};
  }
  Carried operator()(const Renew& renew) const { return {renew.lease.count(), 0, 0}; }
  Carried operator()(const Release& release) const { return {0, 0, release.sent ? 1 : 0}; }
  Carried operator()(const Dead& dead) const {
    return {0, static_cast<std::int64_t>(dead.reason), dead.on_dead == OnDead::block ? 1 : 0};
  }
};

using Rounds = std::vector<std::vector<std::size_t>>;

// Indexes of items, in rounds that name each delivery once, sorted by delivery: the first
// settlement of each delivery, then the second ones, ...
Rounds rounds_of(std::span<const Settlement> items) {
  std::map<DeliveryRef, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < items.size(); ++i) places[items[i].which].push_back(i);
  Rounds rounds;
  for (const auto& [ref, own] : places) {
    if (rounds.size() < own.size()) rounds.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) rounds[i].push_back(own[i]);
  }
  return rounds;
}

Parameters columns_of(std::span<const Settlement> items, std::span<const std::size_t> round,
                      const Runner& runner) {
  std::array<std::vector<std::int64_t>, 10> numbers;
  std::vector<std::string_view> errors;
  std::vector<std::string_view> excerpts;
  for (const std::size_t place : round) {
    const Settlement& each = items[place];
    const Carried carried = std::visit(Carrying{}, each.disposition);
    const std::array<std::int64_t, 10> row{each.which.event.value(),
                                           each.which.delivery.value(),
                                           each.fence.value(),
                                           static_cast<std::int64_t>(each.disposition.index()),
                                           carried.amount_ms,
                                           carried.reason,
                                           carried.flag,
                                           each.note.when.time_since_epoch().count(),
                                           each.note.took.count(),
                                           each.note.status};
    for (std::size_t i = 0; i < row.size(); ++i) numbers[i].push_back(row[i]);
    errors.push_back(each.note.error);
    excerpts.push_back(each.note.excerpt);
  }
  Parameters parameters;
  parameters.add_number(runner.patience_ms());
  for (const auto& each : numbers) parameters.add_number_array(each);
  parameters.add_bytes_array(errors);
  parameters.add_bytes_array(excerpts);
  parameters.add_number(kMaxSuperseded);
  parameters.add_time(runner.moment());
  return parameters;
}

Settled settled_of(char digit) {
  if (digit == '1') return Settled::ok;
  return digit == '0' ? Settled::stale : Settled::unknown;
}

}  // namespace

Result<std::vector<Settled>> PostgresQueue::settle(std::span<const Settlement> items) {
  std::vector<Settled> answers(items.size(), Settled::unknown);
  for (const auto& round : rounds_of(items)) HAPAX_TRY(settle_round(items, round, answers));
  return answers;
}

Result<void> PostgresQueue::settle_round(std::span<const Settlement> items,
                                         std::span<const std::size_t> round,
                                         std::vector<Settled>& answers) {
  HAPAX_TRY_ASSIGN(
      answer, runner_.run_query(kSettle, columns_of(items, round, runner_), "settle deliveries"));
  const std::string_view digits = answer.rows() == 1 ? answer.field(0, 0) : "";
  if (digits.size() != round.size()) {
    return Error(Code::store_corrupt, "hapax._settle gave " + std::to_string(digits.size()) +
                                          " answers to " + std::to_string(round.size()) +
                                          " settlements; the schema hapax is damaged");
  }
  for (std::size_t i = 0; i < round.size(); ++i) answers[round[i]] = settled_of(digits[i]);
  return {};
}

}  // namespace hapax::store::postgres
