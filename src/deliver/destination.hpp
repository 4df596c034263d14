// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/url.hpp"
#include "model/delivery.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hapax::deliver {

// When the circuit breaker of a destination opens, and for how long.
struct BreakerLimits {
  std::size_t window = 20;  // last attempts; it can open once there are half as many
  double share = 0.5;       // of failures in the window that opens it
  std::chrono::milliseconds pause = std::chrono::seconds(5);  // before the first probe; doubles
  std::chrono::milliseconds max_pause = std::chrono::minutes(1);

  friend bool operator==(const BreakerLimits&, const BreakerLimits&) = default;
};

// The default retry schedule.
inline std::vector<std::chrono::milliseconds> default_retry() {
  using namespace std::chrono_literals;
  return {1s, 5s, 30s, 2min, 10min, 30min, 1h, 2h, 4h, 8h, 12h, 24h};
}

// A validated [[destination]] of the configuration. Immutable while in use.
struct Destination {
  enum class Kind : std::uint8_t { http, pull };

  std::string name;
  DestinationNo no{};  // its number in the store; set once the store is open
  Kind kind = Kind::pull;

  // Only for http.
  http::Url url = {};
  std::string secret = {};  // signs deliveries (Standard Webhooks); empty: unsigned
  std::chrono::milliseconds timeout = std::chrono::seconds(15);
  std::size_t concurrency = 16;
  std::optional<double> rate = {};                    // attempts per second and node
  std::vector<std::chrono::milliseconds> retry = {};  // delay after each failure; then dead
  std::optional<BreakerLimits> breaker = BreakerLimits{};
  bool allow_private = true;  // false: no loopback, link-local, private or metadata address
  std::string refetch = {};   // URL with {json:/pointer}; empty: send the stored body

  // For both kinds.
  OnDead on_dead = OnDead::skip;
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds horizon{0};  // 0: none
  unsigned max_abandons = 3;             // only for pull

  friend bool operator==(const Destination&, const Destination&) = default;
};

}  // namespace hapax::deliver
