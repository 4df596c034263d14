// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <chrono>
#include <string_view>

namespace hapax {

// A whole number and a unit: "500ms", "30s", "10m", "24h", "30d". A bare number is rejected:
// confusing seconds with milliseconds has broken leases elsewhere.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace hapax
