// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/field.hpp"

#include <hapax/identify.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hapax {

inline constexpr std::size_t kMaxHashParts = 16;
inline constexpr std::size_t kMaxSplit = 100'000;

// A validated IdentityRule with parsed fields.
struct ParsedRule {
  bool every_arrival = false;   // the id is "none"
  std::vector<Field> id;        // all required
  std::vector<Field> fallback;  // JSON; hashed when `id` is absent, all required
  std::optional<Field> type;
  std::optional<Field> order_key;
  std::optional<Field> version;
  std::optional<Field> tenant;
  std::optional<std::string> split;  // a pointer with `*` steps
  std::size_t split_max = 0;
};

// The misconfigured error names the option and the correction.
Result<ParsedRule> parse_rule(const IdentityRule& rule);

}  // namespace hapax
