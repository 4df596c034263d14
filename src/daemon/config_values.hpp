// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_tree.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Readers of single values. Each returns nullopt for an invalid value, after reporting the problem
// and its remedy.
namespace hapax::daemon {

// The context of reading a file.
struct Loading {
  Report& report;
  const Variable& variable;
  std::filesystem::path directory;  // of the file
  bool plain_secrets = false;       // the file itself contains a secret
  std::vector<std::string> secret_files = {};

  std::string path(std::string_view relative) const;  // relative to the file
};

// Reports unknown members; those in `later` as not available in this version.
struct Keys {
  std::span<const std::string_view> known;
  std::span<const std::string_view> later = {};
};
void check_keys(const Node& table, const Keys& keys, Report& report);

// The most similar candidate; empty if none is similar.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

bool is_table(const Node& node, Report& report);  // false: a problem was reported
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
// Reads a list of texts; with `alone`, also a single text. Returns the valid ones.
std::vector<const Node*> read_texts(const Node& node, bool alone, Report& report);

// "text", { env = "X" } or { file = "x" }.
std::optional<std::string> read_secret(const Node& node, Loading& loading);

// Reads a whole regular file. The error is the reason: "does not exist", "is a directory", ...
Result<std::string> read_small_file(const std::string& path, std::size_t most);

bool is_loopback(const Listen& listen);
std::string in_words(std::chrono::milliseconds span);  // "30d", as written in the file

// A whole number from `least` to `most`.
template <class T, std::int64_t least, std::int64_t most>
std::optional<T> read_between(const Node& node, Report& report) {
  const std::optional<std::int64_t> number = read_number(node, least, most, report);
  return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
}
// A duration of at least `least_ms`.
template <std::int64_t least_ms>
std::optional<std::chrono::milliseconds> read_duration_from(const Node& node, Report& report) {
  return read_duration(node, std::chrono::milliseconds(least_ms), report);
}

// Reads the member into `into` if it is present and valid.
template <class T, class Read, class... More>
void take(const Node& table, std::string_view member, T& into, Read read, More&&... more) {
  const Node* node = table.find(member);
  if (node == nullptr) return;
  if (auto value = read(*node, std::forward<More>(more)...)) into = std::move(*value);
}

// A key of a table: its name, and the function that reads its value into a T. A key without one is
// read together with others.
template <class T>
struct Key {
  std::string_view name;
  void (*read)(const Node& value, T& into, Loading& loading) = nullptr;
};

// The function of a key that is a member of T: set<&Config::listen, read_address>. The reader takes
// the report or, for secrets and paths, the whole context.
template <auto member, auto reader, class T>
void set(const Node& node, T& into, Loading& loading) {
  const auto assign = [&](auto value) {
    if (value) into.*member = std::move(*value);
  };
  if constexpr (std::is_invocable_v<decltype(reader), const Node&, Loading&>) {
    assign(reader(node, loading));
  } else {
    assign(reader(node, loading.report));
  }
}

// Reads the keys that are present, in the order of `keys`.
template <class Keys, class T>
void read_keys(const Node& table, const Keys& keys, T& into, Loading& loading) {
  for (const Key<T>& key : keys) {
    const Node* value = key.read == nullptr ? nullptr : table.find(key.name);
    if (value != nullptr) key.read(*value, into, loading);
  }
}

// The names of the keys, for check_keys().
template <class... Keys>
std::vector<std::string_view> key_names(const Keys&... keys) {
  std::vector<std::string_view> names;
  (std::transform(keys.begin(), keys.end(), std::back_inserter(names),
                  [](const auto& key) { return key.name; }),
   ...);
  return names;
}

}  // namespace hapax::daemon
