// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "env/token_bucket.hpp"
#include "model/numbers.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace hapax::gateway {

// Rate limit for unclaimed events in observe mode: anyone who knows the URL can send them, so they
// must not fill the disk. Applied only to rejected and duplicate requests. Thread-safe.
class UnclaimedRate {
 public:
  // Per source, in units of one arrival and of 4 KiB of its body.
  static constexpr double kPerSecond = 100;
  static constexpr double kAtOnce = 10'000;
  static constexpr std::size_t kUnitBytes = 4096;

  explicit UnclaimedRate(Clock& clock) : clock_(clock) {}

  // True if `arrivals` of so many bytes may be stored now; then they are counted.
  bool take(SourceNo source, std::size_t arrivals, std::size_t bytes);

 private:
  Clock& clock_;
  std::mutex mutex_;
  std::map<SourceNo, TokenBucket> buckets_;
};

}  // namespace hapax::gateway
