// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/transport.hpp"

namespace hapax::deliver {

inline constexpr std::chrono::hours kMaxRetryAfter{24};
// Of a delay: so much is added to it at random. Never less than what the schedule says.
inline constexpr double kJitter = 0.1;

std::chrono::milliseconds with_jitter(std::chrono::milliseconds delay, Random& random);
bool is_success(int status);

// What an answer means for the delivery, and for the destination.
struct AttemptResult {
  Disposition disposition;
  bool healthy = true;  // false: the destination could not deal with it, whatever it was
  std::string error;    // of the attempt's record; empty when it went well
};

// 2xx completes, 410 is dead at once, everything else is retried on the schedule, no earlier than
// Retry-After; after the last entry it is dead. `attempt` counts from 1.
AttemptResult classify_response(const Destination& destination, unsigned attempt,
                                const AttemptResponse& answer, WallTime now, Random& random);

}  // namespace hapax::deliver
