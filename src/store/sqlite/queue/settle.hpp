// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/queue/lanes.hpp"

namespace hapax::store::sqlite {

// Ends leases and records attempts. Inside a write transaction.
class Settler {
 public:
  Settler(sqlite3* db, QueueTable& queue, Lanes& lanes);

  Result<Settled> settle(const Settlement& settlement, std::int64_t now_ms);

 private:
  // False: the fence is not that of a current lease.
  Result<bool> record(const Settlement& settlement, AttemptOutcome outcome, std::int64_t now_ms);
  Result<bool> complete_outside_lanes(const DeliveryRef& which);
  Result<Settled> renew(const Settlement& settlement, std::int64_t now_ms);
  Result<Settled> settled_before(const Settlement& settlement);

  QueueTable& queue_;
  Lanes& lanes_;
  Lazy record_;
  Lazy complete_;
  Lazy read_attempt_;
  Lazy is_known_;
};

}  // namespace hapax::store::sqlite
