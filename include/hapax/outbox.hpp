// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/tx.hpp>

namespace hapax {

// Messages that leave with the caller's transaction, or not at all. Delivery is the server's work:
// at least once, with the message's id as the key on every attempt.
class HAPAX_API Outbox {
 public:
  explicit Outbox(Tx& tx) : tx_(tx) {}

  // Writes one row and nothing else. With a `key`: the same key again, for the same destination and
  // with the same payload, headers and order key, is a duplicate and writes nothing, for 30 days;
  // with other content it is the error key_reused. Other errors as in once(), which also say when
  // the whole transaction was rolled back; on PostgreSQL they end the caller's transaction, as
  // every failed statement does.
  Result<Enqueued> enqueue(const Message& message) { return tx_.enqueue(message); }

 private:
  Tx& tx_;
};

inline Outbox outbox(Tx& tx) {
  return Outbox(tx);
}

}  // namespace hapax
