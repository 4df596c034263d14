// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A TOML file as a tree of values with their positions. Only config_tree.cpp depends on toml++.
namespace hapax::daemon {

inline constexpr std::size_t kMaxConfigBytes = 1024 * 1024;
inline constexpr std::size_t kMaxConfigValues = 20'000;

struct Node {
  enum class Kind : std::uint8_t { text, integer, boolean, table, list, other };
  Kind kind = Kind::table;
  std::size_t line = 0;
  std::string name;  // of a table's member
  std::string path;  // "source[2].secrets[1]"; lists are counted from 1
  std::string text;
  std::int64_t integer = 0;
  bool boolean = false;
  std::optional<double> fraction = {};  // a floating-point value, of kind other
  std::vector<Node> children;           // of a table or list

  const Node* find(std::string_view member) const;  // null: not found
  std::string path_of(std::string_view member) const;
};

// The problems and warnings of one file.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  void problem(const Node& at, std::string_view text) { problem(at.line, at.path, text); }
  void problem(std::size_t line, std::string field, std::string_view text);
  // At the member, or at the table if the member is missing.
  void problem_of(const Node& table, std::string_view member, std::string_view text);
  void warning(const Node& at, std::string_view text) { warning(at.line, at.path, text); }
  void warning(std::size_t line, std::string field, std::string_view text);

  bool good() const { return problems_.empty(); }
  std::size_t count() const { return problems_.size(); }
  // Both are sorted by line.
  std::vector<Problem> take_problems();
  std::vector<Problem> take_warnings();

 private:
  std::string file_;
  std::vector<Problem> problems_;
  std::vector<Problem> warnings_;
};

// nullopt: `text` is not TOML, or too large or too deep for a configuration. The report contains
// the reason, without quoting text that could be a secret.
std::optional<Node> parse_tree(std::string_view text, Report& report);

// 'text' for a message: control characters are escaped, long texts truncated.
std::string in_quotes(std::string_view text);

}  // namespace hapax::daemon
