// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/unclaimed_rate.hpp"

namespace hapax::gateway {

bool UnclaimedRate::take(SourceNo source, std::size_t arrivals, std::size_t bytes) {
  const BootTime now = clock_.since_boot();
  const std::size_t units = arrivals + bytes / kUnitBytes;
  const auto cost = static_cast<double>(units);
  const std::lock_guard lock(mutex_);
  TokenBucket& bucket = buckets_.try_emplace(source, TokenBucket{kAtOnce, now}).first->second;
  bucket.refill(now, kPerSecond, kAtOnce);
  if (bucket.left < cost) return false;
  bucket.left -= cost;
  return true;
}

}  // namespace hapax::gateway
