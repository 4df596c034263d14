// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <compare>
#include <cstdint>
#include <mutex>

namespace hapax {

// A 63-bit number with a meaning; numbers of two kinds do not mix.
template <class Kind>
class Number {
 public:
  Number() = default;
  explicit constexpr Number(std::int64_t value) : value_(value) {}
  constexpr std::int64_t value() const { return value_; }
  friend constexpr auto operator<=>(const Number&,
                                    const Number&) = default;  // NOLINT: no null here

 private:
  std::int64_t value_ = 0;
};

using EventNo = Number<struct EventKind>;
using DeliveryNo = Number<struct DeliveryKind>;
using Fence = Number<struct FenceKind>;
using NodeNo = Number<struct NodeKind>;
using RejectNo = Number<struct RejectKind>;  // made by EventNumbers, like an event's
using ReplayNo = Number<struct ReplayKind>;
// Names, interned by the store: small, above 0, the same as long as the store lives.
using SourceNo = Number<struct SourceKind>;
using DestinationNo = Number<struct DestinationKind>;

inline constexpr std::int64_t kMaxNode = (1 << 10) - 1;

// Makes event numbers before the transaction that stores them, so that a transaction with a lost
// answer can be found by its number. 41 bits of milliseconds since 2024, 10 bits of node, 12 bits
// of counter: unique as long as no two makers share a node number, growing within one maker, and
// ordered by time across makers, so that a range of numbers is a range of time. Thread-safe.
class EventNumbers {
 public:
  // `node` is 0 to kMaxNode.
  EventNumbers(Clock& clock, NodeNo node);

  // Larger than every number this maker gave before, also when the wall clock goes back. More than
  // 4096 in a millisecond borrow from the next one.
  EventNo next();

 private:
  Clock& clock_;
  std::int64_t node_;
  std::mutex mutex_;
  std::int64_t last_tick_ = 0;  // milliseconds << 12 | counter, without the node
};

// When the number was made, give or take what was borrowed.
WallTime made_at(EventNo number);

}  // namespace hapax
