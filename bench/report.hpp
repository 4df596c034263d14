// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"

#include <iosfwd>
#include <span>
#include <string>
#include <utility>

namespace hapax::bench {

// What the two sides are called in the report.
struct Names {
  std::string baseline;
  std::string subject;
};

using Setting = std::vector<std::pair<std::string, std::string>>;

// For people: the table's head, then a line as soon as a case is done. `note` heads the last
// column.
void print_head(std::ostream& out, const Names& names, const std::string& note);
void print_line(std::ostream& out, const Outcome& outcome);

// For programs: all of it, each round included. `setting` is what the numbers depend on. Text goes
// out unescaped: no quotes, no control characters.
void print_json(std::ostream& out, const Setting& setting, std::span<const Outcome> outcomes);

}  // namespace hapax::bench
