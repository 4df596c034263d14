// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/filter.hpp"

#include "cli/percent.hpp"

namespace hapax::cli {

namespace json = boost::json;

std::string query_of(const Parameters& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    query += '&';
    query += name;
    query += '=';
    query += percent_encoded(value);
  }
  return query;
}

json::object object_of(const Parameters& parameters) {
  json::object object;
  for (const auto& [name, value] : parameters) {
    if (!value.empty()) object[name] = json::string_view(value.data(), value.size());
  }
  return object;
}

Parameters EventFilter::parameters() const {
  return {{"source", source}, {"tenant", tenant},       {"status", status}, {"type", type},
          {"id", id},         {"order_key", order_key}, {"since", since},   {"until", until}};
}

}  // namespace hapax::cli
