// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/grouped_claims.hpp"

#include <exception>
#include <iterator>

namespace hapax::store {

namespace {

constexpr std::size_t kItemsMax = 4096;  // bounds how long one transaction lasts
constexpr std::size_t kJobsMax = 256;

}  // namespace

// One caller's request. Lives on the caller's stack until it is answered.
struct GroupedClaims::Job {
  explicit Job(std::span<const DedupItem> wanted) : items(wanted) {}

  const std::span<const DedupItem> items;
  Result<std::vector<Dedup>> answers = std::vector<Dedup>();
  bool answered = false;
  std::condition_variable wake;
};

Result<std::vector<Dedup>> GroupedClaims::dedup(std::span<const DedupItem> items) {
  Job job(items);
  Group group;
  group.reserve(kJobsMax);  // before queueing: allocating later could fail
  std::unique_lock lock(mutex_);
  queue_.push_back(&job);
  job.wake.wait(lock, [&] { return job.answered || (free() && queue_.front() == &job); });
  if (job.answered) return std::move(job.answers);

  ++writing_;
  take(group);
  wake_head();
  lock.unlock();
  commit(group);
  lock.lock();
  --writing_;
  for (Job* each : group) {
    each->answered = true;
    each->wake.notify_one();
  }
  wake_head();
  return std::move(job.answers);
}

std::size_t GroupedClaims::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void GroupedClaims::wake_head() {
  if (free() && !queue_.empty()) queue_.front()->wake.notify_one();
}

void GroupedClaims::take(Group& group) {
  std::size_t items = 0;
  while (!queue_.empty() && group.size() < kJobsMax) {
    items += queue_.front()->items.size();
    if (!group.empty() && items > kItemsMax) break;
    group.push_back(queue_.front());
    queue_.pop_front();
  }
}

// Every job of a group must be answered: its caller waits, and the job is on that caller's stack. A
// damaged claim fails only its own job: the jobs are then committed one by one.
void GroupedClaims::commit(const Group& group) {
  try {
    if (group.size() > 1) commit_whole(group);
    const Result<std::vector<Dedup>>& first = group.front()->answers;
    if (group.size() > 1 && (first || first.error().code() != Code::store_corrupt)) return;
    for (Job* each : group) each->answers = inner_.dedup(each->items);
  } catch (const std::exception& failure) {
    const Error unknown(Code::outcome_unknown, failure.what());
    for (Job* each : group) each->answers = unknown;
  }
}

void GroupedClaims::commit_whole(const Group& group) {
  std::vector<DedupItem> items;
  for (const Job* each : group) items.insert(items.end(), each->items.begin(), each->items.end());
  const Result<std::vector<Dedup>> answers = inner_.dedup(items);
  std::ptrdiff_t at = 0;
  for (Job* each : group) {
    if (!answers) {
      each->answers = answers.error();
      continue;
    }
    const auto first = answers->begin() + at;
    at += std::ssize(each->items);
    each->answers = std::vector<Dedup>(first, answers->begin() + at);
  }
}

}  // namespace hapax::store
