// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

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

  void replace(std::vector<store::Target> next) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(next));
    now_.store(&kept_.back(), std::memory_order_release);
    if (kept_.size() > kKept) kept_.pop_front();
  }

 private:
  // A request looks at what it found until its commit, for some seconds at most; replacements are a
  // second apart.
  static constexpr std::size_t kKept = 256;

  std::mutex mutex_;
  std::deque<std::vector<store::Target>> kept_{1};  // a deque's elements stay where they are
  std::atomic<const std::vector<store::Target>*> now_{&kept_.back()};
};

}  // namespace hapax::gateway
