// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "store/batch.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace hapax::gateway {

// The targets of a source's events: configured destinations and listeners. Read per request at the
// cost of one load, and replaced concurrently.
class RoutingTable {
 public:
  std::span<const store::Target> snapshot() const {
    return *current_.load(std::memory_order_acquire);
  }

  // Makes `next` current. Replaced versions are retained for kRetained, longer than any request
  // lasts.
  void replace(std::vector<store::Target> next, BootTime time) {
    const std::lock_guard lock(mutex_);
    versions_.back().replaced = time;
    versions_.push_back({std::move(next), BootTime::max()});
    current_.store(&versions_.back().targets, std::memory_order_release);
    while (time - versions_.front().replaced > kRetained) versions_.pop_front();
  }

 private:
  static constexpr BootTime kRetained = std::chrono::minutes(10);

  struct Version {
    std::vector<store::Target> targets;
    BootTime replaced = BootTime::max();
  };

  std::mutex mutex_;
  std::deque<Version> versions_{1};  // a deque's elements do not move
  std::atomic<const std::vector<store::Target>*> current_{&versions_.back().targets};
};

}  // namespace hapax::gateway
