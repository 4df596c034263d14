// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "async/task.hpp"
#include "store/batch.hpp"

#include <span>
#include <vector>

namespace hapax {

// Asynchronous access to the store for coroutines. Arguments must outlive the call. After
// queue_full, stopping, or store_unavailable due to a timeout, nothing was attempted.
class AsyncStore {
 public:
  virtual ~AsyncStore() = default;

  virtual Task<store::AdmitAnswer> admit(const store::Admit& admit) = 0;
  virtual Task<Result<store::Lease>> lease(const store::LeaseRequest& request) = 0;
  virtual Task<Result<std::vector<store::Settled>>> settle(
      std::span<const store::Settlement> settlements) = 0;
};

}  // namespace hapax
