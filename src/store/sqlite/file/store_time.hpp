// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/error.hpp>

#include "store/sqlite/file/connection.hpp"

#include <cstdint>

namespace hapax::store::sqlite {

// Store time, in milliseconds since 1970, the same for every process on the file. The file holds
// one reference point, the note: boot id, boot clock, wall clock and store time. Store time is that
// of the note plus the time elapsed since; store_time.cpp defines how that is measured when the
// clocks disagree. Changed clocks, paused virtual machines, restored snapshots and clocks that are
// slow at boot expire a claim early by at most the time since the last note, and never stop store
// time for good.
//
// A wall clock set ahead between the last note of one boot and the first of the next is not
// detected: that looks like time during which the machine was off.
class StoreTime {
 public:
  static Result<StoreTime> prepare(sqlite3* db, Clock& clock);

  // To be called first in a write transaction: it may rewrite the note, so that the claims of the
  // transaction are based on the current state of the clocks.
  Result<std::int64_t> now_ms();
  // The same time without writing, for readers.
  Result<std::int64_t> peek_ms();

 private:
  StoreTime(Clock& clock, Statement read, Statement note);
  // The current clocks, and store time by them.
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
