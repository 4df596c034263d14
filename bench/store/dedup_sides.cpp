// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/store/dedup_sides.hpp"

#include "bench/must.hpp"

#include <algorithm>
#include <stdexcept>

namespace hapax::bench {

namespace {

constexpr std::string_view kScope = "orders";

// No id is used twice, so a reported duplicate means that the sides do different work.
void check_fresh(std::size_t fresh, std::size_t rows) {
  if (fresh != rows) throw std::runtime_error("an id that was never used is a duplicate");
}

std::size_t count_fresh(std::span<const Dedup> answers) {
  return static_cast<std::size_t>(std::count_if(
      answers.begin(), answers.end(), [](const Dedup& answer) { return !answer.duplicate; }));
}

}  // namespace

void BatchedDedup::run() {
  std::size_t fresh = 0;
  for (std::size_t done = 0; done < next_.size(); done += batch_) {
    fresh += claim(std::span(next_).subspan(done, batch_));
  }
  check_fresh(fresh, next_.size());
}

StoreDedup::StoreDedup(const std::string& url, IdOrder order, std::size_t batch)
    : BatchedDedup(order, batch), store_(must(open(url))) {}

std::size_t StoreDedup::claim(std::span<const std::string> ids) {
  requests_.clear();
  for (const std::string& id : ids) requests_.push_back({.scope = kScope, .id = id});
  return count_fresh(must(store_.dedup(requests_)));
}

ThreadedDedup::ThreadedDedup(const std::string& url, IdOrder order, std::size_t threads)
    : store_(must(open(url))), ids_(order), threads_(threads) {}

void ThreadedDedup::prepare(std::size_t rows) {
  next_ = ids_.next(rows);
  fresh_ = 0;
  start_.emplace(1);
  for (std::size_t first = 0; first < threads_; ++first) {
    running_.emplace_back([this, first] {
      start_->wait();
      fresh_ += claim_every(first);
    });
  }
}

void ThreadedDedup::run() {
  start_->count_down();
  running_.clear();
  check_fresh(fresh_, next_.size());
}

// Claims every threads_-th id, so that time-ordered ids arrive roughly in order.
std::size_t ThreadedDedup::claim_every(std::size_t first) {
  std::size_t fresh = 0;
  for (std::size_t i = first; i < next_.size(); i += threads_) {
    const DedupRequest request{.scope = kScope, .id = next_[i]};
    if (!must(store_.dedup(request)).duplicate) ++fresh;
  }
  return fresh;
}

}  // namespace hapax::bench
