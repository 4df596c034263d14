// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages that are sent if and only if a transaction of the caller commits.

#include <hapax/detail/tx.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hapax {

/// Maximum length of a destination, in bytes. Messages outside a limit are rejected before anything
/// is written.
inline constexpr std::size_t kMaxDestination = 128;
/// Maximum length of a payload, in bytes.
inline constexpr std::size_t kMaxPayload = 16 * 1024 * 1024;
/// Maximum length of all headers of a message, names and values together, in bytes.
inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;

/// Identifies a message: a UUID of version 7, so that ids are ordered by time.
struct MessageId {
  std::array<unsigned char, 16> bytes{};  ///< in the order of the text form

  /// The text form: "0199c9a2-...".
  HAPAX_API std::string to_string() const;
  /// Whether both identify the same message.
  friend bool operator==(const MessageId&, const MessageId&) = default;
};

/// A message to send. The views must be valid until the call returns.
struct Message {
  std::string_view destination;   ///< a name: 1 to kMaxDestination visible ASCII characters
  std::string_view key = {};      ///< up to kMaxId bytes; see Outbox::enqueue. Empty: no key
  std::string_view payload = {};  ///< any bytes, up to kMaxPayload; may be empty
  std::string_view order_key =
      {};  ///< messages that share it are sent in order; up to kMaxId bytes
  /// Names and values of headers to send, in this order; up to kMaxHeaderBytes.
  std::vector<std::pair<std::string_view, std::string_view>> headers = {};
};

/// The answer of Outbox::enqueue.
struct Enqueued {
  MessageId message;       ///< for a duplicate, the id of the first message
  bool duplicate = false;  ///< the message already exists, and nothing was written. Not an error
};

/// Writes messages that are sent if and only if the caller's transaction commits. The server sends
/// them at least once, with the message id as the idempotency key of every attempt. In this version
/// `hapax serve` does not do so yet: the rows stay in the database for a version that does.
///
/// As cheap as a reference to the transaction, which must outlive it; not thread-safe, like the
/// handle.
class HAPAX_API Outbox {
 public:
  /// The outbox of a SqliteTx or PostgresTx.
  explicit Outbox(Tx& tx) : tx_(tx) {}

  /// Writes one row in the transaction. Inside once() it belongs to the work: if that fails, the
  /// message does not exist.
  ///
  /// With a key, for 30 days: the same key and destination with the same payload, headers and order
  /// key is a duplicate, which is not an error; with other content it is key_reused.
  ///
  /// Errors, all did_not_happen: invalid_argument (a limit is exceeded, or a statement of the
  /// caller is in progress), and not_in_transaction, store_busy, handle_closed, store_full,
  /// store_read_only, store_unavailable, store_corrupt as in once(), including whether the whole
  /// transaction was rolled back. On PostgreSQL an error of the database ends the caller's
  /// transaction, as every failed statement does.
  Result<Enqueued> enqueue(const Message& message) { return tx_.enqueue(message); }

 private:
  Tx& tx_;
};

/// The outbox of a transaction: `hapax::outbox(tx).enqueue({...})`.
inline Outbox outbox(Tx& tx) {
  return Outbox(tx);
}

}  // namespace hapax
