// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/admin_client.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::cli {

// A list of the admin API, page after page.
struct Listed {
  boost::json::array rows;
  boost::json::value last;  // the last page, for what stands beside the list
};

// Up to `limit` of what `path` lists under `member`. misconfigured: there is no such list.
Result<Listed> read_pages(const AdminArguments& arguments, const std::string& path,
                          std::string_view member, const std::string& query, std::uint64_t limit);

}  // namespace hapax::cli
