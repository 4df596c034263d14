// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace hapax::gateway {

// Event numbers under a leased node number. After the lease expires none are generated: another
// node may have the number. Thread-safe.
class NodeNumbers {
 public:
  explicit NodeNumbers(Clock& clock) : clock_(clock) {}

  // The node number is leased until `until`. Renewing the same number continues its sequence.
  void assign(NodeNo node, BootTime until);
  std::optional<EventNo> next();
  std::optional<NodeNo> node() const;

 private:
  Clock& clock_;
  mutable std::mutex mutex_;
  NodeNo node_{};
  BootTime until_{};
  std::unique_ptr<EventNumbers> numbers_;
};

}  // namespace hapax::gateway
