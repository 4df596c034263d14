// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/admit.hpp"
#include "store/sqlite/claims.hpp"
#include "store/sqlite/names.hpp"

namespace hapax::store::sqlite {

// Outbox messages: added by callers without a transaction of their own, and moved into the queue.
// Inside a write transaction.
class Messages {
 public:
  Messages(sqlite3* db, Claims& claims, Admitter& admitter, Names& names);

  // Nothing: the key is known with other content. `again`: an earlier try may have been committed.
  Result<std::optional<Enqueued>> enqueue(const MessageId& id, const Message& message,
                                          std::int64_t now_ms, bool again);

  // Nothing: one of the numbers is another event's. A number that was used for a message before is
  // counted and left alone: this is then the same call again.
  Result<std::optional<Moved>> move(std::span<const EventNo> numbers, std::int64_t now_ms);

 private:
  struct Stored;

  Result<void> insert(const MessageId& id, const Message& message, const std::string& headers,
                      std::int64_t now_ms);
  Result<bool> is_there(const MessageId& id);
  Result<std::optional<Stored>> next();
  Result<void> move_one(const Stored& message, EventNo number, SourceNo source,
                        std::int64_t now_ms);

  Claims& claims_;
  Admitter& admitter_;
  Names& names_;
  Lazy insert_;
  Lazy find_;
  Lazy next_;
  Lazy remove_;
  Lazy has_more_;
  Lazy origin_;
};

}  // namespace hapax::store::sqlite
