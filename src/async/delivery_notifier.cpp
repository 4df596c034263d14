// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/delivery_notifier.hpp"

#include <utility>

namespace hapax {

void DeliveryNotifier::notify(std::span<const store::Target> targets) {
  if (armed_.load() == 0) return;
  for (const store::Target& each : targets) wake(each.to);
}

void DeliveryNotifier::notify(DestinationNo destination) {
  if (armed_.load() != 0) wake(destination);
}

void DeliveryNotifier::wake(DestinationNo destination) {
  const std::lock_guard lock(mutex_);
  for (Subscription* each : subscriptions_) {
    if (each->destination_ != destination || !each->is_armed_) continue;
    each->is_armed_ = false;
    armed_.fetch_sub(1);
    each->wake_();
  }
}

DeliveryNotifier::Subscription::Subscription(DeliveryNotifier& notifier, DestinationNo destination,
                                             std::function<void()> wake)
    : notifier_(notifier), destination_(destination), wake_(std::move(wake)) {
  const std::lock_guard lock(notifier_.mutex_);
  position_ = notifier_.subscriptions_.insert(notifier_.subscriptions_.end(), this);
}

DeliveryNotifier::Subscription::~Subscription() {
  const std::lock_guard lock(notifier_.mutex_);
  if (is_armed_) notifier_.armed_.fetch_sub(1);
  notifier_.subscriptions_.erase(position_);
}

void DeliveryNotifier::Subscription::arm() {
  const std::lock_guard lock(notifier_.mutex_);
  if (std::exchange(is_armed_, true)) return;
  notifier_.armed_.fetch_add(1);
}

}  // namespace hapax
