// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/polls.hpp"

namespace hapax::deliver {

bool Polls::take(DestinationNo destination) {
  const std::lock_guard lock(mutex_);
  const auto found = by_destination_.find(destination);
  const std::size_t has = found == by_destination_.end() ? 0 : found->second;
  if (has >= most_ - taken_) return false;
  ++taken_;
  ++by_destination_[destination];
  return true;
}

void Polls::release(DestinationNo destination) {
  const std::lock_guard lock(mutex_);
  --taken_;
  const auto found = by_destination_.find(destination);
  if (--found->second == 0) by_destination_.erase(found);
}

}  // namespace hapax::deliver
