// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "store/inbox_queue.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace hapax::gateway {

// Where the events of a source go: what the configuration says, and who listens. Read on the way of
// every request, at the price of a load; replaced while that goes on.
class Targets {
 public:
  std::span<const store::Target> now() const { return *now_.load(std::memory_order_acquire); }

  // At this time. Nobody looks at what was replaced for longer than kKept: a request has its answer
  // long before.
  void replace(std::vector<store::Target> next, BootTime time) {
    const std::lock_guard lock(mutex_);
    kept_.back().replaced = time;
    kept_.push_back({std::move(next), BootTime::max()});
    now_.store(&kept_.back().targets, std::memory_order_release);
    while (time - kept_.front().replaced > kKept) kept_.pop_front();
  }

 private:
  static constexpr BootTime kKept = std::chrono::minutes(10);

  struct Kept {
    std::vector<store::Target> targets;
    BootTime replaced = BootTime::max();
  };

  std::mutex mutex_;
  std::deque<Kept> kept_{1};  // a deque's elements stay where they are
  std::atomic<const std::vector<store::Target>*> now_{&kept_.back().targets};
};

}  // namespace hapax::gateway
