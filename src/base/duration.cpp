// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace hapax {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array<Unit, 5> kUnits{{
    {"ms", 1},
    {"s", 1000},
    {"m", 60 * 1000},
    {"h", 60 * 60 * 1000},
    {"d", 24 * 60 * 60 * 1000},
}};

Error not_a_duration(std::string_view text) {
  return Error(
      Code::invalid_argument,
      "'" + std::string(text) +
          "' is not a duration; write a whole number and a unit: 500ms, 30s, 10m, 24h, 30d");
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc() || count < 0) return not_a_duration(text);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& each : kUnits) {
    if (unit != each.name) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / each.ms) return not_a_duration(text);
    return std::chrono::milliseconds(count * each.ms);
  }
  return not_a_duration(text);
}

}  // namespace hapax
