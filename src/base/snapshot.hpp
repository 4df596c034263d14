// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>

namespace hapax {

// A value published to other threads as an immutable snapshot. A reader keeps the version that it
// got. Thread-safe.
template <class T>
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<const T> first = nullptr) : current_(std::move(first)) {}

  void publish(std::shared_ptr<const T> next) {
    const std::lock_guard lock(mutex_);
    current_.swap(next);  // the caller destroys the old version, without the lock
  }
  std::shared_ptr<const T> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> current_;
};

}  // namespace hapax
