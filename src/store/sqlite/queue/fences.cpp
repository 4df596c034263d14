// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/fences.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

Fences::Fences(sqlite3* db, std::int64_t& high_water)
    : read_(db, kReadFence), write_(db, kWriteFence), last_(high_water) {}

void Fences::start(std::int64_t now_ms) {
  now_ms_ = now_ms;
  drawn_ = false;
}

Result<Fence> Fences::next() {
  if (!drawn_) {
    Run row(read_);
    HAPAX_TRY_ASSIGN(found, row.step("read the last fence"));
    if (!found) {
      return Error(Code::store_corrupt, "the table hapax_fence is empty; it must have one row");
    }
    last_ = std::max(last_, row.number(0));
    drawn_ = true;
  }
  last_ = std::max(last_ + 1, now_ms_ * 1000);
  return Fence(last_);
}

Result<void> Fences::save() {
  if (!drawn_) return {};
  HAPAX_TRY(Run(write_).bind(last_).change("note the last fence"));
  return {};
}

}  // namespace hapax::store::sqlite
