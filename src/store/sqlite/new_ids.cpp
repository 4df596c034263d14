// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/new_ids.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

NewIds::NewIds(sqlite3* db, const SipKey& hashed_by, const RoomForIds& room)
    : keys_(db, kEventClaimKeys),
      hashed_by_(hashed_by),
      bounds_(room),
      room_(room.least),
      filter_(0, hashed_by) {}

void NewIds::add(std::string_view key) {
  filter_.add(key);
  ++added_;
}

Result<void> NewIds::read_on(std::size_t most) {
  if (reading_.is_whole) return {};
  const std::string after = reading_.to;
  Run rows(keys_);
  rows.bind(after).bind(static_cast<std::int64_t>(most));
  for (std::size_t read = 0; read < most; ++read) {
    HAPAX_TRY_ASSIGN(more, rows.step("read the index of ids"));
    if (!more) {
      reading_.is_whole = true;
      added_when_whole_ = added_;
      return {};
    }
    reading_.to = rows.bytes(0);
    add(reading_.to);
  }
  return {};
}

bool NewIds::is_full() const {
  if (reading_.is_whole) return added_ > std::max(room_, 2 * added_when_whole_);
  return added_ > room_ && room_ < bounds_.most;
}

// When the index has been read, how many there were is known, and what came since may have gone.
// Before that there are more than there is room for.
void NewIds::clear() {
  if (is_full()) {
    const std::size_t wanted = 2 * (read_.is_whole ? added_when_whole_ : room_);
    room_ = std::clamp(wanted, bounds_.least, bounds_.most);
  }
  read_ = reading_ = {};
  added_ = 0;
  filter_ = BloomFilter(0, hashed_by_);  // first, so that there are never two
  filter_ = BloomFilter(room_, hashed_by_);
}

}  // namespace hapax::store::sqlite
