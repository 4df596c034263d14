// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hapax::maintenance {

// A thread that works in rounds, with a rest after each, until it is stopped.
class BackgroundWorker {
 public:
  using Round = std::function<std::chrono::milliseconds()>;  // returns how long to rest

  explicit BackgroundWorker(Round round) : round_(std::move(round)) {}
  ~BackgroundWorker();  // as stop()
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  void start();
  // Ends a rest at once and waits for a round that is under way. False: it was not running.
  bool stop();

 private:
  void run();

  const Round round_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hapax::maintenance
