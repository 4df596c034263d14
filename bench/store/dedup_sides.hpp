// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/compare.hpp"
#include "bench/store/ids.hpp"

#include <hapax/store.hpp>

#include <atomic>
#include <latch>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

// The sides of a comparison of Store::dedup that are the same for every kind of store.
namespace hapax::bench {

// What both sides of a batched case have in common: the ids and the loop.
class BatchedDedup : public Side {
 public:
  BatchedDedup(IdOrder order, std::size_t batch) : ids_(order), batch_(batch) {}

  void prepare(std::size_t rows) override { next_ = ids_.next(rows); }
  void run() override;

 private:
  // One transaction. How many ids were free.
  virtual std::size_t claim(std::span<const std::string> ids) = 0;

  Ids ids_;
  std::size_t batch_;
  std::vector<std::string> next_;
};

class StoreDedup final : public BatchedDedup {
 public:
  StoreDedup(const std::string& url, IdOrder order, std::size_t batch);

 private:
  std::size_t claim(std::span<const std::string> ids) override;

  Store store_;
  std::vector<DedupRequest> requests_;
};

// Many threads, each with one id at a time, as requests come to a server.
class ThreadedDedup final : public Side {
 public:
  ThreadedDedup(const std::string& url, IdOrder order, std::size_t threads);

  void prepare(std::size_t rows) override;  // the threads are there and wait
  void run() override;

 private:
  std::size_t claim_every(std::size_t first);

  Store store_;
  Ids ids_;
  std::size_t threads_;
  std::vector<std::string> next_;
  std::atomic<std::size_t> fresh_ = 0;
  std::optional<std::latch> start_;
  std::vector<std::jthread> running_;  // last: they use all of the above
};

}  // namespace hapax::bench
