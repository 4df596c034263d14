// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/checkpoint_gate.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

namespace hapax::test {

void CheckpointGate::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  owner_ = std::this_thread::get_id();
}

bool CheckpointGate::open_for_one_checkpoint() {
  std::unique_lock lock(mutex_);
  closed_ = false;
  closes_at_end_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, kLongTimeout, [&] { return closed_; });
}

void CheckpointGate::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

bool CheckpointGate::has_waiter() const {
  const std::lock_guard lock(mutex_);
  return waiters_ > 0;
}

bool CheckpointGate::wait_for_waiter() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kLongTimeout, [&] { return waiters_ > 0; });
}

void CheckpointGate::release_waiters() {
  std::unique_lock lock(mutex_);
  closed_ = false;
  changed_.notify_all();
  changed_.wait(lock, [&] { return waiters_ == 0; });
  closed_ = true;
}

void CheckpointGate::pass() {
  std::unique_lock lock(mutex_);
  if (std::this_thread::get_id() == owner_) return;
  ++waiters_;
  changed_.notify_all();
  const bool may_pass = changed_.wait_for(lock, 2 * kLongTimeout, [&] { return !closed_; });
  EXPECT_TRUE(may_pass) << "the gate's owner waits for a thread that is stopped at the gate";
  --waiters_;
  changed_.notify_all();
}

void CheckpointGate::note_end() {
  const std::lock_guard lock(mutex_);
  if (std::this_thread::get_id() == owner_ || !closes_at_end_) return;
  closes_at_end_ = false;
  closed_ = true;
  changed_.notify_all();
}

}  // namespace hapax::test
