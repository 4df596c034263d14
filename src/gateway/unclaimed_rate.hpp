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

// How much of a source in observe mode is stored without a claim: whoever knows its URL can send
// it, so it must not fill the disk. Thread-safe. Asked only about what is refused or a duplicate.
class UnclaimedRate {
 public:
  // In units of one arrival and of 4 KiB of its body, per source.
  static constexpr double kPerSecond = 100;
  static constexpr double kAtOnce = 10'000;
  static constexpr std::size_t kUnitBytes = 4096;

  explicit UnclaimedRate(Clock& clock) : clock_(clock) {}

  // Whether `arrivals` with so many bytes may be stored now. Then they are counted.
  bool take(SourceNo source, std::size_t arrivals, std::size_t bytes);

 private:
  Clock& clock_;
  std::mutex mutex_;
  std::map<SourceNo, TokenBucket> buckets_;
};

}  // namespace hapax::gateway
