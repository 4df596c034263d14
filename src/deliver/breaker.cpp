// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/breaker.hpp"

#include <algorithm>
#include <limits>

namespace hapax::deliver {

std::size_t Breaker::room(std::size_t under_way, BootTime now) {
  if (state_ == State::closed) return std::numeric_limits<std::size_t>::max();
  if (state_ == State::open) {
    if (now < until_) return 0;
    state_ = State::half_open;
    since_ = now;
  }
  return under_way == 0 ? 1 : 0;
}

void Breaker::open(BootTime now) {
  constexpr unsigned kMostDoublings = 16;
  const auto pause =
      std::min(limits_->pause * (1U << std::min(opened_, kMostDoublings)), limits_->max_pause);
  ++opened_;
  state_ = State::open;
  since_ = now;
  until_ = now + pause;
  window_.clear();
  failures_ = 0;
}

void Breaker::ended(bool healthy, BootTime began, BootTime now) {
  if (!limits_ || state_ == State::open || began < since_) return;
  if (state_ == State::half_open) {
    if (!healthy) return open(now);
    state_ = State::closed;
    since_ = now;
    opened_ = 0;
    return;
  }
  window_.push_back(healthy);
  if (!healthy) ++failures_;
  if (window_.size() > limits_->window) {
    if (!window_.front()) --failures_;
    window_.pop_front();
  }
  const auto seen = static_cast<double>(window_.size());
  if (window_.size() * 2 < limits_->window) return;
  if (static_cast<double>(failures_) >= seen * limits_->share) open(now);
}

std::string_view name(Breaker::State state) noexcept {
  switch (state) {
    case Breaker::State::closed:
      return "closed";
    case Breaker::State::open:
      return "open";
    case Breaker::State::half_open:
      break;
  }
  return "half-open";
}

}  // namespace hapax::deliver
