// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output.hpp"

#include <boost/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::cli {

// The first row has the names of the columns.
using Rows = std::vector<std::vector<std::string>>;

// A line for each row, each behind `indent`. Columns are as wide as their widest cell, up to a
// limit at which cells are cut. Cells must not hold what a terminal would obey
// (without_controls()).
std::string aligned(const Rows& rows, std::string_view indent = {});

// Prints rows of the admin API. A program gets a line of JSON for each; a person gets a table with
// `below` under it, or `none` in its place. The table has a line for each row with the members that
// the columns name, aligned(), below a line of those names; the tenant follows the source.
void print_table(const Output& output, std::span<const std::string_view> columns,
                 const boost::json::array& rows, const std::string& none,
                 const std::string& below = {});

}  // namespace hapax::cli
