// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <boost/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The content of records in the store: JSON objects. A type defines for_each_member(T&, each),
// which calls each(name, member) for all members; writing and reading both use it.
namespace hapax::deliver {

// May be missing: written only if it is not empty, or not by older versions.
inline constexpr bool kMayBeMissing = true;

template <class T>
boost::json::value json_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return boost::json::string_view(value);
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return std::int64_t{value.time_since_epoch().count()};
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return value.value();  // a number of the model
  }
}
template <class T>
boost::json::value json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : boost::json::value(nullptr);
}
template <class T>
boost::json::value json_of(const std::vector<T>& values) {
  boost::json::array array;
  for (const T& each : values) array.push_back(json_of(each));
  return array;
}

// False: the value has another type.
template <class T>
bool read_json(const boost::json::value& value, T& into) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.is_bool()) into = value.get_bool();
    return value.is_bool();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (value.is_string()) into = std::string(value.get_string());
    return value.is_string();
  } else {
    if (!value.is_int64()) return false;
    if constexpr (std::is_same_v<T, WallTime>) {
      into = WallTime(std::chrono::microseconds(value.get_int64()));
    } else {
      into = static_cast<T>(value.get_int64());
    }
    return true;
  }
}
template <class T>
bool read_json(const boost::json::value& value, std::optional<T>& into) {
  return value.is_null() || read_json(value, into.emplace());
}
template <class T>
bool read_json(const boost::json::value& value, std::vector<T>& into) {
  if (!value.is_array()) return false;
  for (const boost::json::value& each : value.get_array()) {
    if (!read_json(each, into.emplace_back())) return false;
  }
  return true;
}

template <class T>
std::string record_text(T record) {
  boost::json::object object;
  for_each_member(record, [&](std::string_view name, const auto& member, bool may_miss = false) {
    if (!may_miss || member != std::decay_t<decltype(member)>()) object[name] = json_of(member);
  });
  return boost::json::serialize(object);
}

// Reads the members into `record`. nullopt: malformed.
template <class T>
std::optional<T> record_from(std::string_view text, T record = {}) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(boost::json::string_view(text), error);
  if (error || !value.is_object()) return std::nullopt;
  bool good = true;
  for_each_member(record, [&](std::string_view name, auto& member, bool may_miss = false) {
    const boost::json::value* const found = value.get_object().if_contains(name);
    good = good && (found == nullptr ? may_miss : read_json(*found, member));
  });
  return good ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace hapax::deliver
