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

// The sides of a comparison of Store::dedup that all kinds of stores share.
namespace hapax::bench {

// The common part of both sides of a batched case: the ids and the loop.
class BatchedDedup : public Side {
 public:
  BatchedDedup(IdOrder order, std::size_t batch) : ids_(order), batch_(batch) {}

  void prepare(std::size_t rows) override { next_ = ids_.next(rows); }
  void run() override;

 private:
  // Claims in one transaction. Returns the number of free ids.
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

// Many threads that claim one id at a time, like the requests of a server.
class ThreadedDedup final : public Side {
 public:
  ThreadedDedup(const std::string& url, IdOrder order, std::size_t threads);

  void prepare(std::size_t rows) override;  // starts the threads, which wait
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
