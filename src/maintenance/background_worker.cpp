// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/background_worker.hpp"

namespace hapax::maintenance {

BackgroundWorker::~BackgroundWorker() {
  stop();
}

void BackgroundWorker::start() {
  thread_ = std::thread([this] { run(); });
}

bool BackgroundWorker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return false;
  thread_.join();
  return true;
}

void BackgroundWorker::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const std::chrono::milliseconds rest = round_();
    lock.lock();
    wake_.wait_for(lock, rest, [&] { return stopping_; });
  }
}

}  // namespace hapax::maintenance
