// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/lifecycle.hpp"

namespace hapax::sim {

Lifecycle::Lifecycle(Timeline& timeline, std::string name)
    : timeline_(timeline),
      name_(std::move(name)),
      context_(std::make_unique<boost::asio::io_context>(1)),
      self_(std::make_shared<Lifecycle*>(this)) {}

Lifecycle::~Lifecycle() = default;

void Lifecycle::at(BootTime when, std::function<void()> what) {
  timeline_.at(when, [weak = std::weak_ptr(self_), what = std::move(what)] {
    const auto self = weak.lock();
    if (!self) return;
    Lifecycle& lifecycle = **self;
    return lifecycle.stalled() ? lifecycle.at(lifecycle.stalled_until_, what) : what();
  });
}

bool Lifecycle::poll() {
  if (stalled()) return false;
  context_->restart();
  return context_->poll() > 0;
}

}  // namespace hapax::sim
