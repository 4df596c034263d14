// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hapax {

// A thread that runs rounds, with a pause after each, until it is stopped. Thread-safe, except for
// start(), which is called once.
class BackgroundThread {
 public:
  using Round = std::function<std::chrono::milliseconds()>;  // returns the pause
  // The pause of a round that waits for wake(). Such a round must cope with an early wake-up.
  static constexpr std::chrono::hours kUntilWoken{24};

  explicit BackgroundThread(Round round) : round_(std::move(round)) {}
  ~BackgroundThread();  // as stop()
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  void start();  // begins with a round
  // Ends the pause; during a round, or before the start, the next pause.
  void wake();
  // Ends a pause at once and waits for the current round. False: it was not running.
  bool stop();
  bool is_stopping() const;

 private:
  void run();

  const Round round_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hapax
