// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hapax::gateway {

// The time when each secret of a source last matched since the server started, to the second.
// Thread-safe.
class SecretUse {
 public:
  static constexpr std::size_t kMost = 16;  // secrets of a source

  // Called for every request: a load, and at most one store per second and secret.
  void note(std::size_t secret, WallTime at) {
    const std::int64_t now = at.time_since_epoch().count();
    std::atomic<std::int64_t>& last = last_[secret % kMost];
    const std::int64_t before = last.load(std::memory_order_relaxed);
    if (now - before >= kSlack || now < before) last.store(now, std::memory_order_relaxed);
  }

  std::optional<WallTime> last(std::size_t secret) const {
    const std::int64_t at = last_[secret % kMost].load(std::memory_order_relaxed);
    if (at == 0) return std::nullopt;
    return WallTime(std::chrono::microseconds(at));
  }

 private:
  static constexpr std::int64_t kSlack = 1'000'000;  // microseconds

  std::array<std::atomic<std::int64_t>, kMost> last_{};  // microseconds since 1970; 0: never
};

}  // namespace hapax::gateway
