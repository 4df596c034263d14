// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "gateway/metrics.hpp"
#include "gateway/numbers.hpp"
#include "gateway/rejects.hpp"
#include "store/contract.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace hapax::upkeep {

// Writes rejects to the store, on a thread of its own and in small batches, with pauses that are
// many times as long as the writing: however many there are, the store is busy with true events.
class RejectWriter {
 public:
  static constexpr std::size_t kAtOnce = 256;
  static constexpr std::size_t kBytesAtOnce = std::size_t{4} * 1024 * 1024;
  static constexpr int kRest = 9;  // times as long as the last batch took
  static constexpr std::chrono::milliseconds kLook{100};
  static constexpr std::chrono::milliseconds kLongestRest{2000};

  struct With {
    store::Driver& driver;
    gateway::NodeNumbers& numbers;
    gateway::RejectQueue& queue;
    gateway::Metrics& metrics;
    Clock& clock;
    Log& log;
  };

  explicit RejectWriter(const With& with) : with_(with), limit_(with.clock) {}
  ~RejectWriter();  // as stop()
  RejectWriter(const RejectWriter&) = delete;
  RejectWriter& operator=(const RejectWriter&) = delete;

  void start();
  void stop();  // writes what is left

 private:
  void run();
  // A batch, if there is one; how long to wait for the next.
  std::chrono::milliseconds step();
  Result<std::size_t> write();
  void note(std::size_t evicted);
  void complain(const Error& error);

  With with_;
  gateway::RejectQueue::Batch hand_;  // taken from the queue and not written yet
  LogLimit limit_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hapax::upkeep
