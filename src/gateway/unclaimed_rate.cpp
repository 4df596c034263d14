// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/unclaimed_rate.hpp"

#include <algorithm>
#include <chrono>

namespace hapax::gateway {

bool UnclaimedRate::take(SourceNo source, std::size_t arrivals, std::size_t bytes) {
  const BootTime now = clock_.since_boot();
  const std::size_t units = arrivals + bytes / kUnitBytes;
  const auto cost = static_cast<double>(units);
  const std::lock_guard lock(mutex_);
  Bucket& bucket = buckets_.try_emplace(source, Bucket{kAtOnce, now}).first->second;
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(kAtOnce, bucket.left + std::max(0.0, seconds) * kPerSecond);
  bucket.at = now;
  if (bucket.left < cost) return false;
  bucket.left -= cost;
  return true;
}

}  // namespace hapax::gateway
