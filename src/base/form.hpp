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

// application/x-www-form-urlencoded by the URL standard: '&' separates fields, '+' is a space, %XX
// is a byte, a '%' without two hex digits is literal, a field without '=' has an empty value, empty
// fields are skipped. Order and repeats are kept. Malformed input is never an error; more than
// kMaxFormFields fields return nullopt.
std::optional<std::vector<FormField>> parse_form(std::string_view text);

struct FormMatch {
  bool found = false;
  bool repeated = false;
  std::string value;  // of the first occurrence
};

// Finds the field called `name` without storing the others. The search ends at its second
// occurrence. Returns nullopt if more than kMaxFormFields fields were read.
std::optional<FormMatch> find_in_form(std::string_view text, std::string_view name);

// The part between the first '?' and the '#'; empty if there is none. A '?' after '#' does not
// count.
std::string_view query_of(std::string_view url);

// Decodes %XX and nothing else; a '%' without two hex digits is literal.
std::string percent_decode(std::string_view text);

}  // namespace hapax
