// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/async_store.hpp"
#include "env/background_thread.hpp"
#include "store/queue.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hapax {

// Group commit: queued requests share one transaction and one fsync. An idle store thread takes all
// queued requests, so a single request is committed at once and batches grow with load.
class GroupCommitQueue final : public AsyncStore {
 public:
  struct Limits {
    std::size_t threads = 1;  // store threads; more than one on PostgreSQL
    // Limits of admit requests. Leases and settles are bounded by the work in flight.
    std::size_t max_waiting = 16'384;                  // requests
    std::size_t max_waiting_bytes = 64 * 1024 * 1024;  // bodies and headers
    std::size_t max_batch = 512;                       // of all kinds in one transaction
    // A request that no store thread has taken by then times out: its sender would not wait much
    // longer, and can retry. Detected up to a fifth late.
    std::chrono::milliseconds max_wait = std::chrono::seconds(3);
  };

  // Statistics of a batch, for metrics. The watcher is called by store threads.
  struct BatchStats {
    std::size_t requests = 0;
    std::chrono::microseconds took{};
    bool failed = false;  // the store could not write the batch
  };
  using Watcher = std::function<void(const BatchStats&)>;

  GroupCommitQueue(store::Queue& store, Clock& clock, const Limits& limits, Watcher watcher);
  ~GroupCommitQueue() override;  // calls finish()
  GroupCommitQueue(const GroupCommitQueue&) = delete;
  GroupCommitQueue& operator=(const GroupCommitQueue&) = delete;

  Task<store::AdmitAnswer> admit(const store::Admit& admit) override;
  Task<Result<store::Lease>> lease(const store::LeaseRequest& request) override;
  Task<Result<std::vector<store::Settled>>> settle(
      std::span<const store::Settlement> settlements) override;

  // Rejects new requests; pending ones are still written. Thread-safe.
  void stop();
  // Like stop(), and returns once pending requests are written and no thread of the queue uses an
  // event loop any more.
  void finish();

  std::size_t waiting() const;  // admit requests

  struct PendingRequest;
  using Group = std::vector<std::unique_ptr<PendingRequest>>;

 private:
  template <class Work, class Answer>
  Task<Answer> wait_for(const Work& work);
  void enqueue(std::unique_ptr<PendingRequest> waiting);
  void run();
  Group take();
  void write(Group& group);
  std::chrono::milliseconds fail_overdue();
  Group take_overdue();
  Group take_first(std::size_t count);

  store::Queue& store_;
  Clock& clock_;
  const Limits limits_;
  const Watcher watcher_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  Group waiting_;
  std::size_t admits_ = 0;  // admit requests among them
  std::size_t waiting_bytes_ = 0;
  std::size_t idle_ = 0;  // threads waiting for work
  bool stopping_ = false;
  std::vector<std::thread> threads_;
  // Timeouts are detected by counting, which avoids reading the clock per request: how many
  // requests had been enqueued at the last scans, and how many were dequeued.
  std::uint64_t enqueued_ = 0;
  std::uint64_t dequeued_ = 0;
  std::deque<std::uint64_t> enqueued_before_;
  BackgroundThread watch_;  // last: it uses all of the above
};

}  // namespace hapax
