// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

namespace hapax::store {

// One caller's request. Lives on the caller's stack until it is answered.
struct Job {
  explicit Job(const Batch& wanted) : batch(&wanted) {}
  explicit Job(std::size_t limit) : purge_limit(limit) {}

  std::size_t items() const { return batch != nullptr ? size_of(*batch) : purge_limit; }

  const Batch* batch = nullptr;  // null: other work, such as a retention step
  std::size_t purge_limit = 0;
  Answers answers;
  Purged purged;
  Result<void> outcome;  // of its transaction

 private:
  friend class GroupCommit;
  bool answered_ = false;
  std::condition_variable wake_;
};

// Group commit: the first queued caller commits for all queued callers, on its own thread. A single
// caller commits at once, without a timer; concurrent callers share one fsync. The queue is bounded
// by the number of calling threads. Thread-safe.
class GroupCommit {
 public:
  // `writers`: how many groups may be committed at the same time.
  explicit GroupCommit(std::size_t writers) : writers_(writers) {}

  // Returns once `job` is answered, by `commit(group)` on this thread or on another caller's.
  // `commit` sets the outcome of every job in the group.
  template <class Commit>
  void submit(Job& job, Commit commit) {
    std::vector<Job*> group;
    group.reserve(kJobsMax);  // before queueing: allocating later could fail
    std::unique_lock lock(mutex_);
    queue_.push_back(&job);
    job.wake_.wait(lock, [&] { return job.answered_ || (free() && queue_.front() == &job); });
    if (job.answered_) return;

    ++writing_;
    take(group);
    wake_head();
    lock.unlock();
    commit_all(group, commit);
    lock.lock();
    --writing_;
    for (Job* each : group) {
      each->answered_ = true;
      each->wake_.notify_one();
    }
    wake_head();
  }

 private:
  static constexpr std::size_t kItemsMax = 4096;  // bounds how long one transaction lasts
  static constexpr std::size_t kJobsMax = 256;

  // Every job of a group must be answered: its caller waits, and the job is on that caller's stack.
  template <class Commit>
  static void commit_all(const std::vector<Job*>& group, Commit& commit) {
    try {
      commit(group);
    } catch (const std::exception& failure) {
      const Error unknown(Code::outcome_unknown, failure.what());
      for (Job* each : group) each->outcome = unknown;
    }
  }

  bool free() const { return writing_ < writers_; }

  void wake_head() {
    if (free() && !queue_.empty()) queue_.front()->wake_.notify_one();
  }

  void take(std::vector<Job*>& group) {
    std::size_t items = 0;
    while (!queue_.empty() && group.size() < kJobsMax) {
      items += queue_.front()->items();
      if (!group.empty() && items > kItemsMax) break;
      group.push_back(queue_.front());
      queue_.pop_front();
    }
  }

  const std::size_t writers_;
  std::mutex mutex_;
  std::deque<Job*> queue_;
  std::size_t writing_ = 0;
};

}  // namespace hapax::store
