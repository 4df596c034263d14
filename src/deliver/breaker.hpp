// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/destination.hpp"

#include <hapax/env.hpp>

#include <deque>
#include <string_view>

namespace hapax::deliver {

// Circuit breaker of a destination: opens after failures, then lets one attempt probe (half-open).
// Success closes it; failure doubles the pause. Deliveries stay pending meanwhile and are not
// charged an attempt. Single-threaded.
class Breaker {
 public:
  enum class State : std::uint8_t { closed, open, half_open };

  // nullopt: it never opens.
  explicit Breaker(const std::optional<BreakerLimits>& limits) : limits_(limits) {}

  State state() const { return state_; }
  // How many more may be attempted or leased now, when so many are under way.
  std::size_t room(std::size_t under_way, BootTime now);
  // Until when nothing may, if it is open; otherwise now.
  BootTime opens_at() const { return until_; }

  // An attempt ended. One that had begun before it opened tells nothing new.
  void ended(bool healthy, BootTime began, BootTime now);

 private:
  void open(BootTime now);

  std::optional<BreakerLimits> limits_;
  State state_ = State::closed;
  std::deque<bool> window_;   // of the last attempts: healthy
  std::size_t failures_ = 0;  // in it
  unsigned opened_ = 0;       // times in a row
  BootTime since_{};          // it came into this state
  BootTime until_{};
};

std::string_view name(Breaker::State state) noexcept;  // "closed", "open", "half-open"

}  // namespace hapax::deliver
