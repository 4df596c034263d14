// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/detail/tx.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hapax {

// Limits of an outbox message; longer messages are rejected before anything is written.
inline constexpr std::size_t kMaxDestination = 128;
inline constexpr std::size_t kMaxPayload = 16 * 1024 * 1024;
inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;  // names and values together

struct MessageId {
  std::array<unsigned char, 16> bytes{};

  HAPAX_API std::string to_string() const;  // as a UUID
  friend bool operator==(const MessageId&, const MessageId&) = default;
};

// An outgoing message, written in the caller's transaction.
struct Message {
  std::string_view destination;     // a name: 1 to kMaxDestination visible ASCII characters
  std::string_view key = {};        // a second message with this key is a duplicate; empty: no key
  std::string_view payload = {};    // any bytes, may be empty
  std::string_view order_key = {};  // messages that share it are delivered in order; empty: none
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};
};

struct Enqueued {
  MessageId message;       // for a duplicate, the id of the first message
  bool duplicate = false;  // nothing was written; the message already exists
};

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
