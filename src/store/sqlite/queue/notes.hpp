// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/queue.hpp"
#include "store/sqlite/file/connection.hpp"

namespace hapax::store::sqlite {

// Duplicate counts and changed bodies of events. Inside a write transaction.
class Notes {
 public:
  explicit Notes(sqlite3* db);

  Result<void> note(const DuplicateNote& note);

 private:
  Result<void> note_changed(EventNo event, const DuplicateNote::Changed& changed);
  Result<void> add_variant(EventNo event, std::int64_t known,
                           const DuplicateNote::Changed& changed);

  Lazy digest_;
  Lazy add_;
  Lazy variants_;
  Lazy insert_;
  Lazy forget_body_;
};

}  // namespace hapax::store::sqlite
