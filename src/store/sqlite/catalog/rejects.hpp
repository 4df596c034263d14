// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/rejects.hpp"
#include "store/sqlite/file/connection.hpp"

namespace hapax::store::sqlite {

// The rejects, a ring per source, on one connection. Changes inside a write transaction.
class RejectTable {
 public:
  explicit RejectTable(sqlite3* db);

  Result<std::size_t> add(const RejectBatch& batch);
  Result<bool> remove(RejectNo number);
  Result<RejectPage> page(const RejectQuery& query);
  Result<std::vector<RejectCounts>> counts();
  Result<std::optional<StoredReject>> read(RejectNo number);

 private:
  Result<bool> insert(const Reject& reject);  // whether it is new
  Result<std::size_t> trim(SourceNo source, const RejectRing& ring);
  Result<void> count(SourceNo source, std::size_t evicted, std::uint64_t dropped);
  Lazy& page_of(const RejectQuery& query);

  Lazy insert_;
  Lazy totals_;
  Lazy held_;
  Lazy remove_;
  Lazy newest_;
  Lazy oldest_;
  Lazy newest_of_;
  Lazy oldest_of_;
  Lazy read_;
  Lazy count_;
  Lazy counts_;
};

}  // namespace hapax::store::sqlite
