// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/delivery.hpp"
#include "model/numbers.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace hapax::store {

// All fields that are set must match, byte for byte.
struct EventFilter {
  std::optional<SourceNo> source = {};
  std::optional<std::string_view> tenant = {};
  std::optional<std::string_view> id = {};
  std::optional<std::string_view> type = {};
  std::optional<std::string_view> order_key = {};
  std::optional<DeliveryState> status = {};  // EventRow::status
  std::optional<WallTime> since = {};        // received at or after
  std::optional<WallTime> until = {};        // received before
};

inline constexpr EventNo kNewest{std::numeric_limits<std::int64_t>::max()};

}  // namespace hapax::store
