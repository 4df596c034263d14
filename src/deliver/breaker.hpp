// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/destination.hpp"

#include <hapax/env.hpp>

#include <deque>
#include <string_view>

namespace hapax::deliver {

// Circuit breaker of a destination: opens after failures, then lets one attempt probe (half-open).
// Success closes it; failure doubles the pause. Deliveries stay pending meanwhile; no attempt
// is counted. Single-threaded.
class Breaker {
 public:
  enum class State : std::uint8_t { closed, open, half_open };

  // nullopt: it never opens.
  explicit Breaker(const std::optional<BreakerLimits>& limits) : limits_(limits) {}

  State state() const { return state_; }
  // How many more deliveries may be leased now, with `under_way` already leased or in flight.
  std::size_t room(std::size_t under_way, BootTime now);
  // When it becomes half-open. Meaningful only while it is open.
  BootTime opens_at() const { return until_; }

  // Records the end of an attempt. Attempts begun before the current state are ignored.
  void ended(bool healthy, BootTime began, BootTime now);

 private:
  void open(BootTime now);

  std::optional<BreakerLimits> limits_;
  State state_ = State::closed;
  std::deque<bool> window_;   // the last attempts; true: healthy
  std::size_t failures_ = 0;  // in window_
  unsigned opened_ = 0;       // times, since it was last closed
  BootTime since_{};          // start of the current state
  BootTime until_{};
};

std::string_view name(Breaker::State state) noexcept;  // "closed", "open", "half-open"

}  // namespace hapax::deliver
