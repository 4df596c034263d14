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

// The first row contains the column names.
using Rows = std::vector<std::vector<std::string>>;

// Formats rows as aligned lines, each after `indent`. Columns are as wide as their widest cell, up
// to a limit above which cells are truncated. Cells must not contain terminal control characters
// (see without_controls()).
std::string aligned(const Rows& rows, std::string_view indent = {});

// Prints rows of the admin API: for programs one line of JSON each; on a terminal a table followed
// by `below`, or `none` if there are no rows. The columns name members of a row; the tenant is
// appended to the source.
void print_table(const Output& output, std::span<const std::string_view> columns,
                 const boost::json::array& rows, const std::string& none,
                 const std::string& below = {});

}  // namespace hapax::cli
