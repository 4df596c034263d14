// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// Builds a JSON object member by member. The result is valid JSON whatever bytes a text contains.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& text_or_null(std::string_view name, std::string_view value);  // empty: null
  JsonObject& number(std::string_view name, std::int64_t value);
  JsonObject& number_or_null(std::string_view name, const std::optional<std::int64_t>& value);
  JsonObject& flag(std::string_view name, bool value);
  JsonObject& flag_or_null(std::string_view name, const std::optional<bool>& value);
  JsonObject& time(std::string_view name, WallTime value);  // RFC 3339
  JsonObject& time_or_null(std::string_view name, const std::optional<WallTime>& value);
  JsonObject& json(std::string_view name, std::string_view value);  // serialized value

  std::string done() const;

 private:
  std::string out_ = "{";
};

// [values], each already serialized.
std::string json_list(std::span<const std::string> values);
// [each(row), ...]
template <class Rows, class Each>
std::string json_rows(const Rows& rows, Each each) {
  std::vector<std::string> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(each(row));
  return json_list(values);
}
// ["texts"]
std::string json_texts(std::span<const std::string> texts);

}  // namespace hapax::admin
