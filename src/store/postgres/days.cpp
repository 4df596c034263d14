// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "store/postgres/contracts.hpp"
#include "store/postgres/errors.hpp"
#include "store/postgres/inbox_statements.hpp"

namespace hapax::store::postgres {

namespace {

// Days since 2024: see model/numbers.hpp.
std::int64_t day_of(std::int64_t number) {
  return (number >> 22) / std::chrono::milliseconds(hapax::days * 1).count();
}

}  // namespace

Result<void> PostgresQueue::ensure_days(std::span<const std::int64_t> numbers, bool again) {
  std::set<std::int64_t> wanted;
  {
    const std::lock_guard lock(days_mutex_);
    for (const std::int64_t number : numbers) {
      const std::int64_t day = day_of(number);
      if (again || !days_.contains(day)) wanted.insert(day);
    }
  }
  if (wanted.empty()) return {};
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_number_array(std::vector<std::int64_t>(wanted.begin(), wanted.end()));
  HAPAX_TRY(runner_.run_query(kNeedDays, parameters, "create partitions"));
  const std::lock_guard lock(days_mutex_);
  days_.merge(wanted);
  return {};
}

Result<void> PostgresQueue::make_ahead() {
  Parameters parameters;
  parameters.add_number(runner_.patience_ms());
  parameters.add_time(runner_.moment());
  HAPAX_TRY(runner_.run_query(kNeedDaysFrom, parameters, "create the partitions for tomorrow"));
  return {};
}

// A refusal counts only if it is repeated in a run without a lost answer: before that the partition
// may have been dropped, or a lost statement of this process may have committed meanwhile.
Result<QueryResult> PostgresQueue::run_query_with_days(std::span<const std::int64_t> numbers,
                                                       const char* sql,
                                                       const Parameters& parameters,
                                                       std::string_view doing) {
  constexpr int kTriesMax = 3;
  HAPAX_TRY(ensure_days(numbers));
  bool in_doubt = false;
  for (int tries = 1;; ++tries) {
    Result<QueryResult> answer = runner_.run_query(sql, parameters, doing);
    if (answer) return answer;
    const bool lost = answer.error().outcome() == Outcome::unknown;
    const bool refused = is_refused(answer.error());
    if (refused && !lost && tries > 1) return answer;
    in_doubt = in_doubt || lost;
    if (refused && tries < kTriesMax) {
      Result<void> made = ensure_days(numbers, /*again=*/true);
      if (made) continue;
      if (!in_doubt) return std::move(made).error();
    }
    if (!in_doubt) return answer;
    return Error(Code::outcome_unknown, answer.error().detail());
  }
}

}  // namespace hapax::store::postgres
