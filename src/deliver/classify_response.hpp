// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/transport.hpp"

namespace hapax::deliver {

inline constexpr std::chrono::hours kMaxRetryAfter{24};
// Jitter adds up to this share of a delay. It never shortens the delay.
inline constexpr double kJitter = 0.1;

std::chrono::milliseconds with_jitter(std::chrono::milliseconds delay, Random& random);
bool is_success(int status);

// The result of an attempt for the delivery and for the destination's circuit breaker.
struct AttemptResult {
  Disposition disposition;
  bool healthy = true;  // false: a failure for the circuit breaker
  std::string error;    // recorded with the attempt; empty on success
};

// 2xx completes the delivery, 410 makes it dead at once. Everything else is retried on the
// schedule, no earlier than Retry-After; after the last entry the delivery is dead. `attempt`
// starts at 1.
AttemptResult classify_response(const Destination& destination, unsigned attempt,
                                const AttemptResponse& answer, WallTime now, Random& random);

}  // namespace hapax::deliver
