// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax {

struct FormField {
  std::string name;
  std::string value;
};

inline constexpr std::size_t kMaxFormFields = 10000;

// application/x-www-form-urlencoded as the URL standard reads it: '&' between fields, '+' is a
// space, %XX is a byte, a '%' without two hex digits is itself, a field without '=' has an empty
// value, empty fields are skipped. Never fails; order and repeats are kept. Nothing when there are
// more than kMaxFormFields.
std::optional<std::vector<FormField>> parse_form(std::string_view text);

struct FormMatch {
  bool found = false;
  bool repeated = false;
  std::string value;  // of the first
};

// The field called `name`, without keeping the others. The search ends at its second occurrence.
// Nothing when more than kMaxFormFields were read.
std::optional<FormMatch> find_in_form(std::string_view text, std::string_view name);

// What follows the first '?' up to '#'; empty when there is none. A '?' after '#' does not count.
std::string_view query_of(std::string_view url);

// %XX to bytes, and nothing else; a '%' without two hex digits is itself.
std::string percent_decode(std::string_view text);

}  // namespace hapax
