// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/queue/lanes.hpp"

namespace hapax::store::sqlite {

// Grants leases, and releases those of holders known to be dead. Inside a write transaction.
class Leaser {
 public:
  Leaser(sqlite3* db, QueueTable& queue, Lanes& lanes, Fences& fences);

  Result<Lease> lease(const LeaseRequest& request, std::int64_t now_ms);
  Result<Released> release_holder(const ReleaseStep& step, std::int64_t now_ms);

 private:
  Result<std::optional<Leased>> try_lease(Delivery& delivery, const LeaseRequest& request,
                                          std::int64_t now_ms, Budget& budget);
  Result<Leased> take(Delivery& delivery, const LeaseRequest& request, std::int64_t now_ms);
  Result<StoredEvent> event(EventNo number);

  QueueTable& queue_;
  Lanes& lanes_;
  Fences& fences_;
  Lazy is_paused_;
  Lazy event_;
};

}  // namespace hapax::store::sqlite
