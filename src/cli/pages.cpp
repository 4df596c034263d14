// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/pages.hpp"

#include "base/try.hpp"
#include "cli/filter.hpp"

#include <algorithm>

namespace hapax::cli {

namespace json = boost::json;

Result<Listed> read_pages(const AdminArguments& arguments, const std::string& path,
                          std::string_view member, const std::string& query, std::uint64_t limit) {
  constexpr std::uint64_t kPage = 100;
  HAPAX_TRY_ASSIGN(admin, AdminClient::make(arguments));
  Listed listed;
  std::string after;
  while (listed.rows.size() < limit) {
    const std::uint64_t wanted = std::min<std::uint64_t>(kPage, limit - listed.rows.size());
    std::string target = path;
    target += "?limit=";
    target += std::to_string(wanted);
    target += query;
    target += query_of({{"after", after}});
    HAPAX_TRY_TO(listed.last, admin.get_json(target));
    json::array* rows = list_in(listed.last, member);
    if (rows == nullptr) {
      return Error(Code::misconfigured,
                   "the server's response has no list of " + std::string(member));
    }
    for (json::value& each : *rows) listed.rows.push_back(std::move(each));
    after = member_text(listed.last, "next");
    if (after.empty() || rows->empty()) break;
  }
  if (listed.rows.size() > limit) listed.rows.resize(limit);
  return listed;
}

}  // namespace hapax::cli
