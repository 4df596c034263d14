// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/contracts.hpp"

#include <exception>

namespace hapax::store::postgres {

// One transaction per kind, with an outcome of its own: no locks are held from one to the next.
Answers PostgresQueue::write(const Batch& batch) {
  try {
    Answers answers;
    if (!batch.settle.empty()) answers.settle = settle(batch.settle);
    if (!batch.admit.empty()) answers.admit = admit(batch.admit);
    if (!batch.lease.empty()) answers.lease = lease(batch.lease);
    return answers;
  } catch (const std::exception& failure) {
    return failed(batch, Error(Code::outcome_unknown, failure.what()));
  }
}

}  // namespace hapax::store::postgres
