// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/claim_index.hpp"
#include "store/sqlite/lanes.hpp"

#include <map>

namespace hapax::store::sqlite {

// Admits requests inside a write transaction. A request that must be refused after something of it
// was written is left as it is: the caller rolls the whole transaction back and runs it again
// without that request. A savepoint for each would cost every request what only two nodes with one
// number need.
class Admitter {
 public:
  Admitter(sqlite3* db, ClaimIndex& claims, Queue& queue, Lanes& lanes);

  // Forgets what a transaction that was rolled back has noted.
  void forget() {
    seen_ms_.clear();
    open_.clear();
  }

  // Deliveries that are not in a lane are written some at once, the last of them by this. Before
  // anybody else looks for them, and before the transaction ends.
  Result<void> write_deliveries();

  // `refused` says why, when the request must not be part of the transaction.
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
  Queue& queue_;
  Lanes& lanes_;
  Lazy is_held_;
  Lazy insert_;
  Lazy origin_;
  Lazy digest_;
  Lazy seen_;
  std::map<SourceNo, std::int64_t> seen_ms_;  // as it was last written
  std::vector<Delivery> open_;                // not written yet
};

}  // namespace hapax::store::sqlite
