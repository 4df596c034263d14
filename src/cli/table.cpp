// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/table.hpp"

#include "cli/admin_client.hpp"

#include <algorithm>
#include <vector>

namespace hapax::cli {

namespace {

// Characters, not bytes: those that begin one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

// As many characters, none of them cut in two.
std::string first_of(const std::string& text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t left = characters; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (begins && left-- == 0) break;
  }
  return text.substr(0, at);
}

std::string as_table(std::span<const std::string_view> columns, const boost::json::array& objects) {
  constexpr std::size_t kWidest = 48;
  std::vector<std::vector<std::string>> rows{{columns.begin(), columns.end()}};
  for (const boost::json::value& each : objects) {
    std::vector<std::string> row;
    row.reserve(columns.size());
    const std::string tenant = member_text(each, "tenant");
    for (const std::string_view column : columns) {
      row.push_back(member_text(each, column));
      if (column == "source" && !tenant.empty()) row.back() += "/" + tenant;
    }
    rows.push_back(std::move(row));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    if (!text.empty()) text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, std::min(width_of(other[i]), kWidest));
      const bool cut = width_of(row[i]) > kWidest;
      const std::string cell = cut ? first_of(row[i], kWidest - 3) + "..." : row[i];
      text += cell + (i + 1 < row.size() ? std::string(width - width_of(cell) + 2, ' ') : "");
    }
  }
  return text;
}

std::string in_json_lines(const boost::json::array& rows) {
  std::string lines;
  for (const boost::json::value& each : rows) {
    if (!lines.empty()) lines += '\n';
    lines += boost::json::serialize(each);
  }
  return lines;
}

}  // namespace

void print_table(const Output& output, std::span<const std::string_view> columns,
                 const boost::json::array& rows, const std::string& none,
                 const std::string& below) {
  if (rows.empty()) return output.answer_nothing(none + below);
  output.answer(as_table(columns, rows) + below, in_json_lines(rows));
}

}  // namespace hapax::cli
