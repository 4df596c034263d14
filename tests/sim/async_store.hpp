// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/async_store.hpp"
#include "sim/lifecycle.hpp"
#include "sim/waiters.hpp"
#include "store/queue.hpp"

#include <deque>

namespace hapax::sim {

// The duration of a store call: half of it before the effect, half until the answer arrives.
struct StoreDelays {
  BootTime least = std::chrono::microseconds(200);
  BootTime most = milliseconds(3);
  std::uint64_t slow_one_in = 0;  // takes up to `slow` instead
  BootTime slow = seconds(4);
};

// Group commit like async/group_commit_queue.cpp, on simulated time and one thread: requests
// pending when the store is idle form a batch; requests that wait too long time out.
class SimAsyncStore final : public AsyncStore {
 public:
  // Like GroupCommitQueue::Limits.
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
  // Returns whether no request is pending and no batch is at the store.
  bool idle() const;
  std::size_t writes() const { return writes_; }
  // The time of the last request that timed out.
  BootTime last_late() const { return last_late_; }
  // Simulates the end of the process. A batch in flight may still reach the store.
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
  Group group_;  // the batch at the store
  bool busy_ = false;
  bool sent_ = false;  // the batch is in flight and has not taken effect
  bool stopping_ = false;
  std::size_t writes_ = 0;
  BootTime last_late_ = BootTime(-seconds(3600));
};

}  // namespace hapax::sim
