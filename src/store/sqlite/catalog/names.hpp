// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/catalog.hpp"
#include "store/claims.hpp"
#include "store/node.hpp"
#include "store/sqlite/file/connection.hpp"

namespace hapax::store::sqlite {

// Sources and destinations by name and number, paused destinations, node numbers, and the store's
// secret. On one connection; changes inside a write transaction.
class Names {
 public:
  explicit Names(sqlite3* db);

  Result<std::int64_t> number_of(NameKind kind, std::string_view name);  // adds a new name
  Result<std::vector<KnownName>> all(NameKind kind);

  // nullopt: all are taken.
  Result<std::optional<NodeNo>> take_node(const Token& owner, std::chrono::milliseconds lease,
                                          std::int64_t now_ms);
  Result<void> leave_node(const Token& owner, std::int64_t now_ms);

  Result<StoreSecret> secret(const StoreSecret& proposed);

  Result<void> pause(DestinationNo destination, bool paused);
  Result<std::vector<DestinationNo>> paused();

 private:
  Result<std::optional<std::int64_t>> node_for(const Token& owner, std::int64_t now_ms);

  Lazy read_name_;
  Lazy insert_name_;
  Lazy names_;
  Lazy read_node_;
  Lazy unused_node_;
  Lazy expired_node_;
  Lazy write_node_;
  Lazy leave_node_;
  Lazy propose_secret_;
  Lazy read_secret_;
  Lazy pause_;
  Lazy resume_;
  Lazy paused_;
};

}  // namespace hapax::store::sqlite
