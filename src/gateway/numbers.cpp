// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/numbers.hpp"

namespace hapax::gateway {

void NodeNumbers::assign(NodeNo node, BootTime until) {
  const std::lock_guard lock(mutex_);
  if (!numbers_ || node != node_) numbers_ = std::make_unique<EventNumbers>(clock_, node);
  node_ = node;
  until_ = until;
}

std::optional<EventNo> NodeNumbers::next() {
  const std::lock_guard lock(mutex_);
  if (!numbers_ || clock_.since_boot() >= until_) return std::nullopt;
  return numbers_->next();
}

std::optional<NodeNo> NodeNumbers::node() const {
  const std::lock_guard lock(mutex_);
  return numbers_ ? std::optional(node_) : std::nullopt;
}

}  // namespace hapax::gateway
