// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include "store/sqlite/connection.hpp"

#include <cstdint>

namespace hapax::store::sqlite {

// The store's own time, in milliseconds since 1970, the same for every process on the file. The
// file holds one note: the boot id, what the boot clock and the wall clock said, and what time that
// was. Time is that of the note plus what has elapsed since; how that is counted when the clocks
// disagree is in store_time.cpp. No clock that is set, no pause of a virtual machine, no restored
// snapshot and no clock that is slow at boot ends a claim early by more than the time since the
// last note, and none stops the store's time for good.
//
// It does not see a wall clock that goes ahead between the last note of one boot and the first of
// the next: that looks like time that the machine was off.
class StoreTime {
 public:
  static Result<StoreTime> prepare(sqlite3* db, Clock& clock);

  // Call it first in a write transaction: it may rewrite the note, so that whatever the transaction
  // claims counts from clocks that are as they are now.
  Result<std::int64_t> now_ms();
  // The same time without writing, for readers.
  Result<std::int64_t> peek_ms();

 private:
  StoreTime(Clock& clock, Statement read, Statement note);
  // The clocks now, and the store's time by them.
  struct Reading {
    std::int64_t boot_ms = 0;
    std::int64_t wall_ms = 0;
    std::int64_t now_ms = 0;
    bool is_note_due = false;
  };
  Result<Reading> read();

  Clock* clock_;
  Statement read_;
  Statement note_;
};

}  // namespace hapax::store::sqlite
