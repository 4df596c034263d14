// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/json_object.hpp"

#include "base/calendar.hpp"
#include "base/json_text.hpp"

#include <vector>

namespace hapax::admin {

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  if (out_.size() > 1) out_ += ',';
  append_json(out_, name);
  out_ += ':';
  out_ += value;
  return *this;
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  return json(name, json_string(value));
}

JsonObject& JsonObject::text_or_null(std::string_view name, std::string_view value) {
  return value.empty() ? json(name, "null") : text(name, value);
}

JsonObject& JsonObject::number(std::string_view name, std::int64_t value) {
  return json(name, std::to_string(value));
}

JsonObject& JsonObject::number_or_null(std::string_view name,
                                       const std::optional<std::int64_t>& value) {
  return value ? number(name, *value) : json(name, "null");
}

JsonObject& JsonObject::flag(std::string_view name, bool value) {
  return json(name, value ? "true" : "false");
}

JsonObject& JsonObject::flag_or_null(std::string_view name, const std::optional<bool>& value) {
  return value ? flag(name, *value) : json(name, "null");
}

JsonObject& JsonObject::time(std::string_view name, WallTime value) {
  return text(name, format_rfc3339(value));
}

JsonObject& JsonObject::time_or_null(std::string_view name, const std::optional<WallTime>& value) {
  return value ? time(name, *value) : json(name, "null");
}

std::string JsonObject::done() const {
  return out_ + '}';
}

std::string json_list(std::span<const std::string> values) {
  std::string out = "[";
  for (const std::string& each : values) {
    if (out.size() > 1) out += ',';
    out += each;
  }
  return out + ']';
}

std::string json_texts(std::span<const std::string> texts) {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const std::string& each : texts) values.push_back(json_string(each));
  return json_list(values);
}

}  // namespace hapax::admin
