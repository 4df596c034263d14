// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "commit/bells.hpp"

#include <utility>

namespace hapax {

void Bells::ring(std::span<const store::Target> targets) {
  if (armed_.load() == 0) return;
  for (const store::Target& each : targets) wake(each.to);
}

void Bells::ring(DestinationNo destination) {
  if (armed_.load() != 0) wake(destination);
}

void Bells::wake(DestinationNo destination) {
  const std::lock_guard lock(mutex_);
  for (Ear* each : ears_) {
    if (each->destination_ != destination || !each->is_armed_) continue;
    each->is_armed_ = false;
    armed_.fetch_sub(1);
    each->wake_();
  }
}

Bells::Ear::Ear(Bells& bells, DestinationNo destination, std::function<void()> wake)
    : bells_(bells), destination_(destination), wake_(std::move(wake)) {
  const std::lock_guard lock(bells_.mutex_);
  place_ = bells_.ears_.insert(bells_.ears_.end(), this);
}

Bells::Ear::~Ear() {
  const std::lock_guard lock(bells_.mutex_);
  if (is_armed_) bells_.armed_.fetch_sub(1);
  bells_.ears_.erase(place_);
}

void Bells::Ear::arm() {
  const std::lock_guard lock(bells_.mutex_);
  if (std::exchange(is_armed_, true)) return;
  bells_.armed_.fetch_add(1);
}

}  // namespace hapax
