// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/config_limits.hpp"

namespace hapax::daemon {

namespace {

std::optional<std::size_t> read_count(const Node& node, Report& report) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::optional<std::int64_t> number = read_number(node, 1, kMost, report);
  if (!number) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace

void read_limits(const Node& server, ServerLimits& limits, Report& report) {
  constexpr std::chrono::milliseconds kLeast = std::chrono::seconds(1);
  take(server, "max_connections", limits.connections, read_count, report);
  take(server, "max_connections_per_address", limits.per_address, read_count, report);
  take(server, "idle_timeout", limits.idle, read_duration, kLeast, report);
  take(server, "header_timeout", limits.header, read_duration, kLeast, report);
  take(server, "body_timeout", limits.body, read_duration, kLeast, report);
  take(server, "write_timeout", limits.write, read_duration, kLeast, report);
  if (limits.per_address.value_or(1) > limits.connections) {
    report.problem_of(server, "max_connections_per_address",
                      "one address cannot have more connections than the server; use a number "
                      "below max_connections, which is " +
                          std::to_string(limits.connections));
  }
}

}  // namespace hapax::daemon
