// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/outbox.hpp>

namespace hapax {

// Errors shared by the SQLite and PostgreSQL transactions.
inline Error transaction_lost() {
  return Error(
      Code::not_in_transaction, Outcome::unknown,
      "the work ended the transaction that it ran in; only the code that began it may end it");
}

// Adds to `cause` that the caller's whole transaction was rolled back.
inline Error transaction_over(const Error& cause) {
  return Error(cause.code(), cause.outcome(),
               cause.detail() + "; the whole transaction was rolled back; begin a new one",
               cause.file(), cause.line());
}

inline Error key_reused(const Message& message) {
  return Error(
      Code::key_reused,
      "a message for " + std::string(message.destination) +
          " with this key and other content already exists; use another key for another message");
}

}  // namespace hapax
