// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace hapax::cli {

// A line for each object with the members that the columns name, below a line of those names.
// Columns are as wide as what is in them, up to a limit; a tenant stands behind its source.
std::string as_table(std::span<const std::string_view> columns, const boost::json::array& objects);

}  // namespace hapax::cli
