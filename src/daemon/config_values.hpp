// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_tree.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Single values of the configuration. Each reader returns nothing for an invalid value, after
// reporting the problem with a remedy.
namespace hapax::daemon {

// What reading a file needs to know of the world around it.
struct Loading {
  Report& report;
  const Variable& variable;
  std::filesystem::path directory;  // that of the file
  bool plain_secrets = false;       // the file itself holds one
  std::vector<std::string> secret_files = {};

  std::string path(std::string_view relative) const;  // as seen from the file
};

// Rejects unknown members: those of `later` as not available in this version.
struct Keys {
  std::span<const std::string_view> known;
  std::span<const std::string_view> later = {};
};
void check_keys(const Node& table, const Keys& keys, Report& report);

// The candidate that was most likely meant; empty when none is alike.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

bool is_table(const Node& node, Report& report);  // reports when it is not
std::optional<std::string> read_text(const Node& node, Report& report);
std::optional<bool> read_flag(const Node& node, Report& report);
std::optional<std::int64_t> read_number(const Node& node, std::int64_t least, std::int64_t most,
                                        Report& report);
std::optional<std::chrono::milliseconds> read_duration(const Node& node,
                                                       std::chrono::milliseconds least,
                                                       Report& report);
std::optional<std::size_t> read_body_limit(const Node& node, Report& report);
std::optional<Listen> read_address(const Node& node, Report& report);
std::optional<std::string> read_name(const Node& node, Report& report);
// A list of texts, or one text alone where `alone` says so. Those that are good.
std::vector<const Node*> read_texts(const Node& node, bool alone, Report& report);

// "text", { env = "X" } or { file = "x" }.
std::optional<std::string> read_secret(const Node& node, Loading& loading);

// The whole of a regular file. The error says why not: "is not there", "is a directory", ...
Result<std::string> read_small_file(const std::string& path, std::size_t most);

bool is_loopback(const Listen& listen);
std::string in_words(std::chrono::milliseconds span);  // "30d", as it is written in the file

// Reads the member into `into` where it is there and good.
template <class T, class Read, class... More>
void take(const Node& table, std::string_view member, T& into, Read read, More&&... more) {
  const Node* node = table.find(member);
  if (node == nullptr) return;
  if (auto value = read(*node, std::forward<More>(more)...)) into = std::move(*value);
}

}  // namespace hapax::daemon
