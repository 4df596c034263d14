// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output.hpp"

#include <boost/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace hapax::cli {

// Prints rows of the admin API. A program gets a line of JSON for each; a person gets a table with
// `below` under it, or `none` in its place. The table has a line for each row with the members that
// the columns name, below a line of those names. Columns are as wide as what is in them, up to a
// limit; the tenant follows the source.
void print_table(const Output& output, std::span<const std::string_view> columns,
                 const boost::json::array& rows, const std::string& none,
                 const std::string& below = {});

}  // namespace hapax::cli
