// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "env/background_thread.hpp"

#include <utility>

namespace hapax {

BackgroundThread::~BackgroundThread() {
  stop();
}

void BackgroundThread::start() {
  thread_ = std::thread([this] { run(); });
}

void BackgroundThread::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

bool BackgroundThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return false;
  thread_.join();
  return true;
}

bool BackgroundThread::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void BackgroundThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const std::chrono::milliseconds rest = round_();
    lock.lock();
    wake_.wait_for(lock, rest, [&] { return stopping_ || woken_; });
    woken_ = false;
  }
}

}  // namespace hapax
