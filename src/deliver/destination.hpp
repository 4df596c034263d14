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

// When a destination that fails is left alone for a while.
struct BreakerLimits {
  std::size_t window = 20;  // the last attempts that are looked at; half of them must be there
  double share = 0.5;       // of failures among them that opens it
  std::chrono::milliseconds pause = std::chrono::seconds(5);  // before the first probe
  std::chrono::milliseconds max_pause = std::chrono::minutes(1);

  friend bool operator==(const BreakerLimits&, const BreakerLimits&) = default;
};

// When a delivery is tried again, where nothing else is said.
inline std::vector<std::chrono::milliseconds> default_retry() {
  using namespace std::chrono_literals;
  return {1s, 5s, 30s, 2min, 10min, 30min, 1h, 2h, 4h, 8h, 12h, 24h};
}

// One [[destination]] of the configuration, checked. Immutable while it is in force.
struct Destination {
  enum class Kind : std::uint8_t { http, pull };

  std::string name;
  DestinationNo no{};  // what the store calls it; filled in when the store is open
  Kind kind = Kind::pull;

  // Of an http destination.
  http::Url url = {};
  std::string secret =
      {};  // deliveries are signed with it as Standard Webhooks; empty: they are not
  std::chrono::milliseconds timeout = std::chrono::seconds(15);
  std::size_t concurrency = 16;
  std::optional<double> rate = {};                    // attempts per second of this node
  std::vector<std::chrono::milliseconds> retry = {};  // after each failure; past the last: dead
  std::optional<BreakerLimits> breaker = BreakerLimits{};
  bool allow_private = true;  // false: no loopback, link-local, private or metadata address
  std::string refetch = {};   // a URL with {json:/pointer} in it; empty: the event's own bytes go

  // Of both.
  OnDead on_dead = OnDead::skip;
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds horizon{0};  // 0: none
  unsigned max_abandons = 3;             // of a pull destination

  friend bool operator==(const Destination&, const Destination&) = default;
};

}  // namespace hapax::deliver
