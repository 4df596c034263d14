// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "model/numbers.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace hapax {

namespace {

constexpr int kNodeBits = 10;
constexpr int kCounterBits = 12;
constexpr std::int64_t kCounterMask = (1 << kCounterBits) - 1;
constexpr WallTime kEpoch{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};

std::int64_t ticks(WallTime now) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - kEpoch).count();
  return std::max<std::int64_t>(ms, 0) << kCounterBits;
}

}  // namespace

EventNumbers::EventNumbers(Clock& clock, NodeNo node) : clock_(clock), node_(node.value()) {
  HAPAX_CHECK(node_ >= 0 && node_ <= kMaxNode);
}

EventNo EventNumbers::next() {
  const std::lock_guard lock(mutex_);
  last_tick_ = std::max(last_tick_ + 1, ticks(clock_.wall()));
  const std::int64_t ms = last_tick_ >> kCounterBits;
  const std::int64_t counter = last_tick_ & kCounterMask;
  return EventNo((((ms << kNodeBits) | node_) << kCounterBits) | counter);
}

WallTime made_at(EventNo number) {
  return kEpoch + std::chrono::milliseconds(number.value() >> (kNodeBits + kCounterBits));
}

}  // namespace hapax
