// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/checkpoint_gate.hpp"

namespace hapax::test {

void CheckpointGate::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  keeper_ = std::this_thread::get_id();
}

void CheckpointGate::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

bool CheckpointGate::wait_for_visitor() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return visitors_ > 0; });
}

std::int64_t CheckpointGate::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool CheckpointGate::wait_for_end(std::int64_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return ended_ >= count; });
}

void CheckpointGate::pass() {
  std::unique_lock lock(mutex_);
  if (std::this_thread::get_id() == keeper_) return;
  ++visitors_;
  changed_.notify_all();
  changed_.wait_for(lock, kHeldMax, [&] { return !closed_; });
  --visitors_;
}

void CheckpointGate::note_end() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  changed_.notify_all();
}

}  // namespace hapax::test
