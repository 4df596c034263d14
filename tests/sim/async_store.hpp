// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/async_store.hpp"
#include "sim/lifecycle.hpp"
#include "sim/waiters.hpp"
#include "store/queue.hpp"

#include <deque>

namespace hapax::sim {

// How long the store takes, half of it before it happens and half until the answer is there.
struct StoreDelays {
  BootTime least = std::chrono::microseconds(200);
  BootTime most = milliseconds(3);
  std::uint64_t slow_one_in = 0;  // takes up to `slow` instead
  BootTime slow = seconds(4);
};

// Group commit as async/group_commit_queue.cpp does it, by simulated time and on one thread: what
// waits when the store is free goes together; who has waited for too long is told so.
class SimAsyncStore final : public AsyncStore {
 public:
  // As GroupCommitQueue::Limits.
  static constexpr std::size_t kMaxBatch = 64;
  static constexpr BootTime kMaxWait = seconds(3);

  SimAsyncStore(Lifecycle& lifecycle, store::Queue& store, const StoreDelays& delays)
      : lifecycle_(lifecycle), store_(store), delays_(delays) {}

  Task<store::AdmitAnswer> admit(const store::Admit& admit) override;
  Task<Result<store::Lease>> lease(const store::LeaseRequest& request) override;
  Task<Result<std::vector<store::Settled>>> settle(
      std::span<const store::Settlement> settlements) override;

  void change(const StoreDelays& delays) { delays_ = delays; }
  void stop() { stopping_ = true; }
  // Nothing waits, and nothing is at the store.
  bool idle() const;
  std::size_t writes() const { return writes_; }
  // When somebody was last told that the store has not come to it.
  BootTime last_late() const { return last_late_; }
  // The process ends. What is on its way to the store may still arrive there.
  void die();

 private:
  using Settlements = std::span<const store::Settlement>;
  template <class Work, class Answer>
  struct Lane;
  struct Group;
  template <class Work, class Answer>
  Task<Answer> wait_for(Lane<Work, Answer>& lane, const Work& work);

  template <class Work, class Answer>
  struct Lane {
    struct Item {
      std::uint64_t waiter;
      Work work;
    };
    std::deque<Item> waiting;
    Waiters<Answer> waiters;
  };
  struct Group {
    std::vector<Lane<store::Admit, store::AdmitAnswer>::Item> admits;
    std::vector<Lane<store::LeaseRequest, Result<store::Lease>>::Item> leases;
    std::vector<Lane<Settlements, Result<std::vector<store::Settled>>>::Item> settles;
    store::Answers answers;
  };

  void start();
  void take();
  void write();
  void answer();
  BootTime delay();

  Lifecycle& lifecycle_;
  store::Queue& store_;
  StoreDelays delays_;
  Lane<store::Admit, store::AdmitAnswer> admits_;
  Lane<store::LeaseRequest, Result<store::Lease>> leases_;
  Lane<Settlements, Result<std::vector<store::Settled>>> settles_;
  Group group_;  // at the store
  bool busy_ = false;
  bool sent_ = false;  // the group is on its way and has not happened
  bool stopping_ = false;
  std::size_t writes_ = 0;
  BootTime last_late_ = BootTime(-seconds(3600));
};

}  // namespace hapax::sim
