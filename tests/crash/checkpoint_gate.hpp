// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace hapax::test {

// Lets a test decide what happens while another thread moves the log into the database. Waits end
// when the thing happens, or after a time that only a test that goes wrong uses up.
class CheckpointGate {
 public:
  // From now on, threads other than the caller's stop at their next write to a database...
  void close();
  // ... until now.
  void open();
  // Waits until a thread stands at the gate. False: none came.
  bool wait_for_visitor();

  // How many checkpoints have ended, of any thread and with any result.
  std::int64_t ended() const;
  // Waits until that many have. False: they have not.
  bool wait_for_end(std::int64_t count);

  // For the VFS.
  void pass();
  void note_end();

 private:
  static constexpr std::chrono::milliseconds kPatience{500};
  static constexpr std::chrono::seconds kHeldMax{20};  // so that a deadlock ends as a failure

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::thread::id keeper_;
  int visitors_ = 0;
  std::int64_t ended_ = 0;
};

}  // namespace hapax::test
