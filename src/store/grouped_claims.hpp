// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/claims.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace hapax::store {

// Group commit of claims: the first queued caller commits for all queued callers, on its own
// thread. A single caller commits at once, without a timer; concurrent callers share one fsync. The
// queue is bounded by the number of calling threads. Thread-safe.
class GroupedClaims final : public Claims {
 public:
  // `writers`: how many groups may be committed at the same time. `inner` must outlive it.
  GroupedClaims(Claims& inner, std::size_t writers) : inner_(inner), writers_(writers) {}

  Result<std::vector<Dedup>> dedup(std::span<const DedupItem> items) override;
  Result<Purged> purge(std::size_t limit) override { return inner_.purge(limit); }

  std::size_t waiting() const;  // callers, in no group yet

 private:
  struct Job;
  using Group = std::vector<Job*>;

  bool free() const { return writing_ < writers_; }
  void wake_head();
  void take(Group& group);
  void commit(const Group& group);
  void commit_whole(const Group& group);

  Claims& inner_;
  const std::size_t writers_;
  mutable std::mutex mutex_;
  std::deque<Job*> queue_;
  std::size_t writing_ = 0;
};

}  // namespace hapax::store
