// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hapax::cli {

// Names and values for a request of the admin API. Pairs with an empty value are omitted.
using Parameters = std::vector<std::pair<std::string_view, std::string_view>>;

std::string query_of(const Parameters& parameters);           // "&source=stripe&since=..."
boost::json::object object_of(const Parameters& parameters);  // {"source":"stripe","since":"..."}

// Selects events to list or replay. Empty members match all events.
struct EventFilter {
  std::string source, tenant, status, type, id, order_key, since, until;

  Parameters parameters() const;  // views into this object
};

}  // namespace hapax::cli
