// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/claims.hpp"
#include "store/sqlite/queue/fences.hpp"
#include "store/sqlite/queue/queue.hpp"

namespace hapax::store::sqlite {

// How many more deliveries this item may supersede.
struct Budget {
  unsigned superseded = kMaxSuperseded;
};

// The state of a delivery, in its lane or outside lanes: the transitions of store/batch.hpp.
// Only this class changes a row's state and the lanes. Each function writes everything that
// changed, including the caller's changes to `delivery`.
class Lanes {
 public:
  Lanes(sqlite3* db, QueueTable& queue, Fences& fences);

  // Adds a new delivery at the end of its lane; without a lane it is open.
  Result<void> enter(Delivery& delivery, std::chrono::milliseconds remember, std::int64_t now_ms);

  // Acknowledged: removes the row and advances the lane's version.
  Result<void> complete(Delivery& delivery, std::int64_t now_ms);
  // Dead (and out of its lane), cancelled or superseded.
  Result<void> end(Delivery& delivery, QueueState state, EndReason reason, std::int64_t now_ms,
                   Budget& budget);
  Result<void> die(Delivery& delivery, EndReason reason, OnDead on_dead, std::int64_t now_ms,
                   Budget& budget);

  // Returns a leased delivery to pending, due at `due_ms`, without a holder. Swaps with a delivery
  // that waits at a lower position.
  Result<void> requeue(Delivery& delivery, std::int64_t due_ms, std::int64_t now_ms);

  // Returns an ended delivery to its old position.
  Result<void> reopen(Delivery& delivery, std::int64_t now_ms);

  // Whether its lane has completed a newer version.
  Result<bool> is_outdated(const Delivery& delivery, std::int64_t now_ms);

 private:
  struct Lane {
    DestinationNo to;
    std::string key;
    bool stored = false;  // the row exists
    std::optional<DeliveryRef> head;
    std::optional<std::int64_t> version;
    std::int64_t version_until_ms = 0;
    std::int64_t remember_ms = 0;

    bool guards(std::int64_t now_ms) const {
      return version && !is_expired(version_until_ms, now_ms);
    }
  };

  Result<Lane> read(DestinationNo to, const std::string& key);
  Result<void> save(const Lane& lane, std::int64_t now_ms);
  Result<void> leave(Lane& lane, const Delivery& delivery, std::int64_t now_ms, Budget& budget);
  Result<void> promote(Lane& lane, std::int64_t now_ms, Budget& budget);
  Result<void> make_head(Lane& lane, Delivery& delivery, std::int64_t now_ms);
  Result<bool> give_way(Lane& lane, Delivery& head, std::int64_t now_ms);
  Result<void> rejoin(Delivery& delivery, std::int64_t now_ms);

  static bool is_outdated(const Lane& lane, const Delivery& delivery, std::int64_t now_ms);
  static void move_version(Lane& lane, const Delivery& delivery, std::int64_t now_ms);

  QueueTable& queue_;
  Fences& fences_;
  Lazy read_;
  Lazy insert_;
  Lazy update_;
  Lazy remove_;
};

}  // namespace hapax::store::sqlite
