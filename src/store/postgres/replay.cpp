// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "model/ids.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/filter.hpp"
#include "store/postgres/inbox_statements.hpp"
#include "store/postgres/rows.hpp"

#include <algorithm>
#include <cstring>

namespace hapax::store::postgres {

namespace {

template <class No>
std::optional<std::int64_t> value(const std::optional<No>& number) {
  return number ? std::optional(number->value()) : std::nullopt;
}

}  // namespace

// A replay without a number gets a negative random one for this call, so that it can be repeated
// after a lost answer.
std::int64_t PostgresQueue::name_of(ReplayNo number) {
  if (number != ReplayNo()) return number.value();
  std::array<unsigned char, sizeof(std::int64_t)> chance{};
  random_.fill(chance);
  std::int64_t name = 0;
  std::memcpy(&name, chance.data(), sizeof name);
  return name | std::numeric_limits<std::int64_t>::min();
}

Result<Cancelled> PostgresQueue::cancel(const DeliveryRef& which) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number(which.event.value());
  parameters.add_number(which.delivery.value());
  parameters.add_number(kMaxSuperseded);
  parameters.add_time(runner_.moment());
  HAPAX_TRY_ASSIGN(answer, runner_.run_query(kCancel, parameters, "cancel a delivery"));
  return static_cast<Cancelled>(Row(answer, 0).number(0));
}

// The last parameters of replay and replay_step.
void PostgresQueue::add_how(Parameters& parameters, const HowToReplay& how) {
  parameters.add_flag(how.as == ReplayAs::as_new);
  parameters.add_number_or_null(value(how.destination));
  parameters.add_flag(how.accept_duplicate);
  parameters.add_number(name_of(how.no));
  parameters.add_number(kMaxDeliveryNo);
  parameters.add_time(runner_.moment());
}

Result<Replayed> PostgresQueue::replay(const Replay& what) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number(what.event.value());
  parameters.add_number_or_null(value(what.delivery));
  add_how(parameters, what.how);
  HAPAX_TRY_ASSIGN(answer, runner_.run_query(kReplay, parameters, "replay an event"));
  const Row row(answer, 0);
  Replayed replayed{static_cast<Replayed::Status>(row.number(0)), {}};
  for (const std::int64_t each : row.numbers(1)) replayed.deliveries.emplace_back(each);
  return replayed;
}

Result<Replaying> PostgresQueue::replay_step(const ReplayStep& step) {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number(step.after.value());
  parameters.add_number(step.until.value());
  const auto limit = static_cast<std::int64_t>(step.limit);
  parameters.add_number(limit);
  parameters.add_number(
      std::max(kRowsLookedAt, limit + 1));  // one more, to detect whether more remain
  parameters.add_flag(step.dry);
  add_filter(parameters, step.filter);
  add_how(parameters, step.how);
  HAPAX_TRY_ASSIGN(answer, runner_.run_query(kReplayStep, parameters, "replay events"));
  const Row row(answer, 0);
  return Replaying{static_cast<std::size_t>(row.number(0)), static_cast<std::size_t>(row.number(1)),
                   row.no<EventNo>(2), row.flag(3)};
}

}  // namespace hapax::store::postgres
