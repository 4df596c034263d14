// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/table.hpp"

#include "cli/admin_client.hpp"

#include <algorithm>

namespace hapax::cli {

namespace {

// The number of UTF-8 characters: bytes that are not continuation bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

// The first `characters` characters, never cutting one.
std::string first_of(const std::string& text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t left = characters; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (begins && left-- == 0) break;
  }
  return text.substr(0, at);
}

Rows rows_of(std::span<const std::string_view> columns, const boost::json::array& objects) {
  Rows rows{{columns.begin(), columns.end()}};
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
  return rows;
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

std::string aligned(const Rows& rows, std::string_view indent) {
  constexpr std::size_t kWidest = 48;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(width_of(row[i]), kWidest));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool cut = width_of(row[i]) > kWidest;
      const std::string cell = cut ? first_of(row[i], kWidest - 3) + "..." : row[i];
      line += cell + std::string(widths[i] - width_of(cell) + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += (text.empty() ? "" : "\n") + std::string(indent) + line;
  }
  return text;
}

void print_table(const Output& output, std::span<const std::string_view> columns,
                 const boost::json::array& rows, const std::string& none,
                 const std::string& below) {
  if (rows.empty()) return output.answer_nothing(none + below);
  output.answer(aligned(rows_of(columns, rows)) + below, in_json_lines(rows));
}

}  // namespace hapax::cli
