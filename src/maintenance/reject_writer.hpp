// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/background_thread.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "gateway/metrics.hpp"
#include "gateway/numbers.hpp"
#include "gateway/rejects.hpp"
#include "store/rejects.hpp"

namespace hapax::maintenance {

// Writes rejects to the store, on a thread of its own and in small batches, with pauses many times
// longer than the writes, so rejects never crowd out events.
class RejectWriter {
 public:
  static constexpr std::size_t kAtOnce = 256;
  static constexpr std::size_t kBytesAtOnce = std::size_t{4} * 1024 * 1024;
  static constexpr int kRest = 9;  // times the duration of the last batch
  static constexpr std::chrono::milliseconds kLook{100};
  static constexpr std::chrono::milliseconds kLongestRest{2000};

  struct Deps {
    store::Rejects& rejects;
    gateway::NodeNumbers& numbers;
    gateway::RejectQueue& queue;
    gateway::Metrics& metrics;
    Clock& clock;
    Log& log;
  };

  explicit RejectWriter(const Deps& deps)
      : deps_(deps), limit_(deps.clock), thread_([this] { return step(); }) {}
  ~RejectWriter();  // as stop()
  RejectWriter(const RejectWriter&) = delete;
  RejectWriter& operator=(const RejectWriter&) = delete;

  void start();
  void stop();  // writes the remaining rejects

  // One round of the thread: writes a batch, if there is one. Returns the pause before the next.
  std::chrono::milliseconds step();

 private:
  bool holds_any() const { return !hand_.rejects.empty() || !hand_.dropped.empty(); }
  bool take();        // takes a batch if none is pending; false: there is none
  bool write_hand();  // false: the store failed; keeps the batch if retryable
  Result<std::size_t> write();
  void note(std::size_t evicted);
  void log_warning(const Error& error);

  Deps deps_;
  gateway::RejectQueue::Batch hand_;  // pending: taken from the queue, not yet written
  LogLimit limit_;
  BackgroundThread thread_;  // last: it uses all of the above
};

}  // namespace hapax::maintenance
