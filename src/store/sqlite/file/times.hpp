// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <optional>

// Times as stored in columns: store time in milliseconds, times of other clocks in microseconds.
namespace hapax::store::sqlite {

inline WallTime wall_of(std::int64_t ms) {
  return WallTime(std::chrono::milliseconds(ms));
}

inline std::optional<WallTime> wall_of(std::optional<std::int64_t> ms) {
  return ms ? std::optional(wall_of(*ms)) : std::nullopt;
}

inline WallTime wall_of_us(std::int64_t us) {
  return WallTime(std::chrono::microseconds(us));
}

inline std::int64_t to_us(WallTime time) {
  return time.time_since_epoch().count();
}

}  // namespace hapax::store::sqlite
