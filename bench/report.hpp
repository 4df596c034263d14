// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"

#include <iosfwd>
#include <span>
#include <string>
#include <utility>

namespace hapax::bench {

// Names of the two sides in the report.
struct Names {
  std::string baseline;
  std::string subject;
};

using Setting = std::vector<std::pair<std::string, std::string>>;

// For people: the head of the table, then a line after each case. `note` is the head of the last
// column.
void print_head(std::ostream& out, const Names& names, const std::string& note);
void print_line(std::ostream& out, const Outcome& outcome);

// For programs: everything, each round included. `setting` is the environment of the measurement.
// Texts are not escaped: no quotes, no control characters.
void print_json(std::ostream& out, const Setting& setting, std::span<const Outcome> outcomes);

}  // namespace hapax::bench
