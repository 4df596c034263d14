// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/tx.hpp>

namespace hapax {

// Messages that are sent if and only if the caller's transaction commits. The server delivers them
// at least once, with the message id as the idempotency key of every attempt.
class HAPAX_API Outbox {
 public:
  explicit Outbox(Tx& tx) : tx_(tx) {}

  // Writes one row. With a `key`: a repeated key, with the same destination, payload, headers and
  // order key, is a duplicate and writes nothing, for 30 days; with different content it is the
  // error key_reused. Other errors as in once(), including whether the whole transaction was rolled
  // back; on PostgreSQL they end the caller's transaction, as every failed statement does.
  Result<Enqueued> enqueue(const Message& message) { return tx_.enqueue(message); }

 private:
  Tx& tx_;
};

inline Outbox outbox(Tx& tx) {
  return Outbox(tx);
}

}  // namespace hapax
