// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/life.hpp"

namespace hapax::sim {

Life::Life(Timeline& timeline, std::string name)
    : timeline_(timeline),
      name_(std::move(name)),
      context_(std::make_unique<boost::asio::io_context>(1)),
      self_(std::make_shared<Life*>(this)) {}

Life::~Life() = default;

void Life::at(BootTime when, std::function<void()> what) {
  timeline_.at(when, [weak = std::weak_ptr(self_), what = std::move(what)] {
    const auto self = weak.lock();
    if (!self) return;
    Life& life = **self;
    return life.stalled() ? life.at(life.stalled_until_, what) : what();
  });
}

bool Life::poll() {
  if (stalled()) return false;
  context_->restart();
  return context_->poll() > 0;
}

}  // namespace hapax::sim
