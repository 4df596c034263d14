// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"
#include "store/sqlite/file/connection.hpp"

namespace hapax::store::sqlite {

// The source of fences and lane positions: strictly increasing numbers. Each is store time in
// microseconds, or the last number plus one if that is larger. The last one is written once per
// transaction; `high_water` outlives the transaction and the handle, because a transaction that was
// rolled back, or whose outcome is unknown, may have exposed its fences.
class Fences {
 public:
  Fences(sqlite3* db, std::int64_t& high_water);

  void start(std::int64_t now_ms);  // at the start of a transaction
  Result<Fence> next();
  Result<void> save();

 private:
  Lazy read_;
  Lazy write_;
  std::int64_t& last_;
  std::int64_t now_ms_ = 0;
  bool drawn_ = false;  // in this transaction
};

}  // namespace hapax::store::sqlite
