// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <array>

namespace hapax::daemon {

// The keys of [server] that read_limits() reads.
inline constexpr std::array<std::string_view, 6> kLimitKeys{
    "max_connections", "max_connections_per_address",
    "idle_timeout",    "header_timeout",
    "body_timeout",    "write_timeout"};

void read_limits(const Node& server, ServerLimits& limits, Report& report);

}  // namespace hapax::daemon
