// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/catalog/listing.hpp"
#include "store/sqlite/claims/claim_index.hpp"
#include "store/sqlite/queue/queue.hpp"

namespace hapax::store::sqlite {

// Reads one event with everything that belongs to it, and counts. On a snapshot.
class Reading {
 public:
  explicit Reading(sqlite3* db);

  Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted,
                                                   std::int64_t now_ms);
  Result<Lookup<EventDetail>> event(EventNo number, std::int64_t now_ms);
  Result<Lookup<std::string>> body(EventNo number, BodyOf which);
  Result<Stats> stats(std::int64_t now_ms);
  Result<ClaimFaults> claim_faults();

  Listing listing;

 private:
  Result<bool> is_free(const EventClaim& claim, std::int64_t now_ms);
  Result<std::vector<Attempt>> attempts_of(EventNo number);
  Result<std::vector<Variant>> variants_of(EventNo number);
  Result<void> count_open(std::vector<DestinationStats>& all, std::int64_t now_ms);
  Result<void> count_rest(std::vector<DestinationStats>& all);

  QueueTable queue_;
  ClaimIndexReader claims_;
  Lazy is_held_;
  Lazy headers_;
  Lazy body_;
  Lazy last_variant_;
  Lazy variants_;
  Lazy attempts_;
  Lazy open_;
  Lazy leased_;
  Lazy rest_;
  Lazy seen_;
  Lazy faults_;
};

}  // namespace hapax::store::sqlite
