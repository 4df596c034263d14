// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/claims/claim_index.hpp"
#include "store/sqlite/queue/lanes.hpp"

#include <map>

namespace hapax::store::sqlite {

// Admits requests inside a write transaction. If a request must be rejected after part of it was
// written, the caller rolls back the whole transaction and runs it again without that request. A
// savepoint per request would make every request pay for a rare case: two nodes with the same node
// number.
class Admitter {
 public:
  Admitter(sqlite3* db, ClaimIndex& claims, QueueTable& queue, Lanes& lanes);

  // Discards the state of a transaction that was rolled back.
  void forget() {
    seen_ms_.clear();
    open_.clear();
  }

  // Writes the buffered deliveries. Those outside lanes are inserted several at a time. Call it
  // before anything else reads the queue, and before the transaction ends.
  Result<void> write_deliveries();

  // Sets `refused` to the reason if the request must not be part of the transaction.
  Result<std::vector<Admission>> admit(const Admit& request, std::int64_t now_ms,
                                       std::optional<Error>& refused);

  // Stores an event with its deliveries. False: its number is taken.
  Result<bool> store(const Arrival& arrival, Would would, bool guard, std::int64_t now_ms);

 private:
  Result<Admission> admit_claimed(const Arrival& arrival, bool guard, std::int64_t now_ms,
                                  std::optional<Error>& refused);
  Result<Admission> admit_unclaimed(const Arrival& arrival, const Admit& request,
                                    std::int64_t now_ms, std::optional<Error>& refused);
  Result<std::optional<Admission>> lost(const EventClaim& claim, const Arrival& arrival,
                                        std::int64_t now_ms);
  Result<Admission> against(const Arrival& arrival, EventNo winner);
  Result<bool> is_held(EventNo event);
  Result<bool> is_same(const Arrival& arrival, Would would);
  Result<void> deliver(const Arrival& arrival, Would would, bool guard, std::int64_t now_ms);
  Result<void> note_seen(SourceNo source, std::int64_t now_ms);

  ClaimIndex& claims_;
  QueueTable& queue_;
  Lanes& lanes_;
  Lazy is_held_;
  Lazy insert_;
  Lazy origin_;
  Lazy digest_;
  Lazy seen_;
  std::map<SourceNo, std::int64_t> seen_ms_;  // as last written
  std::vector<Delivery> open_;                // not yet written
};

}  // namespace hapax::store::sqlite
