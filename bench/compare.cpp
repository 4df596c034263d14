// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/compare.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

namespace hapax::bench {

namespace {

Seconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

Cost take_turn(Side& side, std::size_t rows, Seconds pause) {
  side.prepare(rows);
  const Seconds cpu_before = cpu_time();
  const auto start = std::chrono::steady_clock::now();
  side.run();
  const Seconds time = std::chrono::steady_clock::now() - start;
  std::this_thread::sleep_for(pause);
  return {time, cpu_time() - cpu_before};
}

void add(Cost& sum, const Cost& more, double share) {
  sum.time += more.time * share;
  sum.cpu += more.cpu * share;
}

// Doubles the rows until they take at least a quarter of a round, and returns the rows of one turn.
// Both sides process all of them, so that they start the first round with the same amount of data.
std::size_t warm_up(Pair& pair, std::size_t unit, const Plan& plan) {
  for (std::size_t rows = unit;; rows *= 2) {
    const Seconds took = take_turn(*pair.baseline, rows, plan.pause).time;
    take_turn(*pair.subject, rows, plan.pause);
    if (took < plan.round / 4) continue;
    const double turn_rows = static_cast<double>(rows) * (plan.round / plan.turns / took);
    return unit * std::max<std::size_t>(1, static_cast<std::size_t>(turn_rows) / unit);
  }
}

Round run_round(Pair& pair, std::size_t rows, const Plan& plan) {
  Round round;
  const double share = 1.0 / static_cast<double>(rows) / plan.turns;
  for (int i = 0; i < plan.turns; ++i) {
    const bool subject_first = i % 2 == 1;
    if (subject_first) add(round.subject, take_turn(*pair.subject, rows, plan.pause), share);
    add(round.baseline, take_turn(*pair.baseline, rows, plan.pause), share);
    if (!subject_first) add(round.subject, take_turn(*pair.subject, rows, plan.pause), share);
  }
  return round;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double median_of(const std::vector<Round>& rounds, const std::function<double(const Round&)>& of) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Round& round : rounds) values.push_back(of(round));
  return median(std::move(values));
}

double ratio_of(const Outcome& outcome) {
  return median_of(outcome.rounds, [](const Round& round) { return round.ratio(); });
}

bool Outcome::met() const {
  return !budget || ratio_of(*this) >= *budget;
}

Outcome compare(const Case& what, const Plan& plan) {
  Pair pair = what.open();
  const std::size_t turn_rows = warm_up(pair, what.unit, plan);
  Outcome outcome{what.name, what.budget, turn_rows * static_cast<std::size_t>(plan.turns), {}};
  for (int i = 0; i < plan.rounds; ++i) outcome.rounds.push_back(run_round(pair, turn_rows, plan));
  return outcome;
}

}  // namespace hapax::bench
