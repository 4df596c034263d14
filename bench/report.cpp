// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/report.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace hapax::bench {

namespace {

std::string fixed(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

double per_second(const Outcome& outcome, Cost Round::*side) {
  return median_of(outcome.rounds,
                   [side](const Round& round) { return 1 / (round.*side).time.count(); });
}

double cpu_us(const Outcome& outcome, Cost Round::*side) {
  return median_of(outcome.rounds,
                   [side](const Round& round) { return (round.*side).cpu.count() * 1e6; });
}

// The minimum and maximum ratio of all rounds, which show how reliable the median is.
std::string spread(const Outcome& outcome) {
  const auto [least, most] =
      std::minmax_element(outcome.rounds.begin(), outcome.rounds.end(),
                          [](const Round& a, const Round& b) { return a.ratio() < b.ratio(); });
  return fixed(least->ratio(), 2) + "-" + fixed(most->ratio(), 2);
}

std::string verdict(const Outcome& outcome) {
  if (!outcome.budget) return "-";
  return outcome.met() ? "met" : "short";
}

using Line = std::array<std::string, 9>;

void print(std::ostream& out, const Line& line) {
  constexpr std::array<int, 9> kWidths{48, 13, 10, 8, 14, 16, 8, 9, 12};
  out << std::left << std::setw(kWidths[0]) << line[0] << std::right;
  for (std::size_t i = 1; i < line.size(); ++i) out << std::setw(kWidths[i]) << line[i];
  out << std::endl;
}

void print_cost(std::ostream& out, const Cost& cost) {
  out << "{\"us\":" << fixed(cost.time.count() * 1e6, 3)
      << ",\"cpu_us\":" << fixed(cost.cpu.count() * 1e6, 3) << '}';
}

void print_rounds(std::ostream& out, const std::vector<Round>& rounds) {
  const char* separator = "";
  for (const Round& round : rounds) {
    out << separator << "{\"baseline\":";
    print_cost(out, round.baseline);
    out << ",\"subject\":";
    print_cost(out, round.subject);
    out << ",\"ratio\":" << fixed(round.ratio(), 4) << '}';
    separator = ",";
  }
}

void print_outcome(std::ostream& out, const Outcome& outcome) {
  out << "{\"name\":\"" << outcome.name
      << "\",\"baseline_per_second\":" << fixed(per_second(outcome, &Round::baseline), 1)
      << ",\"subject_per_second\":" << fixed(per_second(outcome, &Round::subject), 1)
      << ",\"baseline_cpu_us\":" << fixed(cpu_us(outcome, &Round::baseline), 3)
      << ",\"subject_cpu_us\":" << fixed(cpu_us(outcome, &Round::subject), 3)
      << ",\"ratio\":" << fixed(ratio_of(outcome), 4)
      << ",\"budget\":" << (outcome.budget ? fixed(*outcome.budget, 2) : "null")
      << ",\"verdict\":\"" << verdict(outcome) << "\",\"note\":\"" << outcome.note
      << "\",\"rows_per_round\":" << outcome.rows << ",\"rounds\":[";
  print_rounds(out, outcome.rounds);
  out << "]}";
}

}  // namespace

void print_head(std::ostream& out, const Names& names, const std::string& note) {
  print(out, {"per second, median", names.baseline, names.subject, "ratio", "rounds", "cpu us/row",
              "budget", "verdict", note});
}

void print_line(std::ostream& out, const Outcome& outcome) {
  const std::string cpu = fixed(cpu_us(outcome, &Round::baseline), 1) + " / " +
                          fixed(cpu_us(outcome, &Round::subject), 1);
  print(out, {outcome.name, fixed(per_second(outcome, &Round::baseline), 0),
              fixed(per_second(outcome, &Round::subject), 0), fixed(ratio_of(outcome), 2),
              spread(outcome), cpu, outcome.budget ? fixed(*outcome.budget, 2) : "-",
              verdict(outcome), outcome.note});
}

void print_json(std::ostream& out, const Setting& setting, std::span<const Outcome> outcomes) {
  out << "{\"setting\":{";
  const char* separator = "";
  for (const auto& [name, value] : setting) {
    out << separator << '"' << name << "\":\"" << value << '"';
    separator = ",";
  }
  out << "},\"cases\":[";
  separator = "";
  for (const Outcome& outcome : outcomes) {
    out << separator << '\n';
    print_outcome(out, outcome);
    separator = ",";
  }
  out << "\n]}" << std::endl;
}

}  // namespace hapax::bench
