// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/sqlite/catalog/names.hpp"
#include "store/sqlite/claims/claims.hpp"
#include "store/sqlite/queue/admit.hpp"

namespace hapax::store::sqlite {

// Outbox messages: enqueued for callers without a transaction of their own, and moved into the
// queue. Inside a write transaction.
class Messages {
 public:
  Messages(sqlite3* db, ClaimTable& claims, Admitter& admitter, Names& names);

  // nullopt: the key exists with other content. `again`: an earlier run may have been committed.
  Result<std::optional<Enqueued>> enqueue(const MessageId& id, const Message& message,
                                          std::int64_t now_ms, bool again);

  // nullopt: a number belongs to another event. A number that an earlier run used for a message is
  // only counted.
  Result<std::optional<Moved>> move(std::span<const EventNo> numbers, std::int64_t now_ms);

 private:
  struct Stored;

  Result<void> insert(const MessageId& id, const Message& message, const std::string& headers,
                      std::int64_t now_ms);
  Result<bool> is_there(const MessageId& id);
  Result<std::optional<Stored>> next();
  Result<void> move_one(const Stored& message, EventNo number, SourceNo source,
                        std::int64_t now_ms);

  ClaimTable& claims_;
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
