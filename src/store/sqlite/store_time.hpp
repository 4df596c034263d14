// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/result.hpp>

#include "store/sqlite/connection.hpp"

#include <cstdint>

namespace hapax::store::sqlite {

// The store's own time, in milliseconds since 1970: the same for every process on the file, and
// deaf to the wall clock. The file holds which boot it counts from, what the boot clock said then
// and what time that was; time goes on as the boot clock does. After a reboot it starts again at
// the wall clock, but never behind the last time that was written down. So setting the clock ends
// no claim early and keeps none alive.
class StoreTime {
 public:
  static Result<StoreTime> prepare(sqlite3* db, Clock& clock);

  // Call it inside a write transaction: it may write the row.
  Result<std::int64_t> now_ms();
  // The same without writing, for who only looks.
  Result<std::int64_t> look_ms();

 private:
  StoreTime(Clock& clock, Statement read, Statement start, Statement note);
  struct Reading {
    std::int64_t now_ms = 0;
    std::int64_t last_ms = 0;
    bool new_boot = false;
  };
  Result<Reading> read();
  Result<std::int64_t> start_boot(std::int64_t now_ms);

  Clock* clock_;
  Statement read_;
  Statement start_;
  Statement note_;
};

}  // namespace hapax::store::sqlite
