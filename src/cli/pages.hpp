// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/admin_client.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::cli {

// A list of the admin API, collected from its pages.
struct Listed {
  boost::json::array rows;
  boost::json::value last;  // the last page, with the members beside the list
};

// Reads up to `limit` elements of the list `member` at `path`. misconfigured: no such list.
Result<Listed> read_pages(const AdminArguments& arguments, const std::string& path,
                          std::string_view member, const std::string& query, std::uint64_t limit);

}  // namespace hapax::cli
