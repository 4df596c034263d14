// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/contract.hpp"
#include "store/sqlite/connection.hpp"

namespace hapax::store::sqlite {

// The ring of rejects, on one connection. Changes inside a write transaction.
class Rejects {
 public:
  explicit Rejects(sqlite3* db);

  Result<void> add(const Reject& reject);
  Result<bool> remove(RejectNo number);
  Result<RejectPage> page(std::optional<SourceNo> source, RejectNo before, std::size_t limit);
  Result<std::optional<StoredReject>> read(RejectNo number);

 private:
  Lazy insert_;
  Lazy trim_;
  Lazy remove_;
  Lazy page_;
  Lazy page_of_;
  Lazy read_;
};

}  // namespace hapax::store::sqlite
