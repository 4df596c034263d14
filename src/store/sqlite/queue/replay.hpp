// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/catalog/listing.hpp"
#include "store/sqlite/queue/lanes.hpp"

namespace hapax::store::sqlite {

// Cancels and replays deliveries. Inside a write transaction.
class Replayer {
 public:
  Replayer(sqlite3* db, QueueTable& queue, Lanes& lanes);

  Result<Cancelled> cancel(const DeliveryRef& which, std::int64_t now_ms);
  Result<Replayed> replay(const Replay& what, std::int64_t now_ms);

  // Replays those of `events` that still match. They were found on a snapshot, so that a long
  // search does not block writers.
  Result<std::size_t> replay_all(std::span<const EventNo> events, const ReplayStep& step,
                                 std::int64_t now_ms);

 private:
  Result<Replayed> replay_same(std::vector<Delivery>& asked, const HowToReplay& how,
                               std::int64_t now_ms);
  Result<Replayed> replay_as_new(const std::vector<Delivery>& all, const Replay& what,
                                 std::int64_t now_ms);

  QueueTable& queue_;
  Lanes& lanes_;
  Listing listing_;
};

}  // namespace hapax::store::sqlite
