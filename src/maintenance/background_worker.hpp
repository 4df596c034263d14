// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hapax::maintenance {

// A background thread that runs rounds, with a pause after each, until it is stopped.
class BackgroundWorker {
 public:
  using Round = std::function<std::chrono::milliseconds()>;  // returns the pause

  explicit BackgroundWorker(Round round) : round_(std::move(round)) {}
  ~BackgroundWorker();  // as stop()
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  void start();
  // Ends a pause at once and waits for the current round. False: it was not running.
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
