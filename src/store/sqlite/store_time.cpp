// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/store_time.hpp"

#include "base/try.hpp"
#include "store/sqlite/statements.hpp"

#include <algorithm>

namespace hapax::store::sqlite {

namespace {

// How far behind the last written time may be: the most that time can go back over a reboot with a
// broken wall clock.
constexpr std::int64_t kNoteEveryMs = 1000;

template <class Duration>
std::int64_t to_ms(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

StoreTime::StoreTime(Clock& clock, Statement read, Statement start, Statement note)
    : clock_(&clock), read_(std::move(read)), start_(std::move(start)), note_(std::move(note)) {}

Result<StoreTime> StoreTime::prepare(sqlite3* db, Clock& clock) {
  HAPAX_TRY_ASSIGN(read, Statement::prepare(db, kReadClock));
  HAPAX_TRY_ASSIGN(start, Statement::prepare(db, kStartClock));
  HAPAX_TRY_ASSIGN(note, Statement::prepare(db, kNoteClock));
  return StoreTime(clock, std::move(read), std::move(start), std::move(note));
}

Result<StoreTime::Reading> StoreTime::read() {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.step("read the store's time"));
  if (!found) {
    return Error(Code::store_corrupt, "the table hapax_clock is empty; it must have one row");
  }
  const std::int64_t last = row.number(3);
  const bool new_boot = row.bytes(0) != clock_->boot_id();
  const std::int64_t now = new_boot ? to_ms(clock_->wall().time_since_epoch())
                                    : row.number(2) + (to_ms(clock_->since_boot()) - row.number(1));
  return Reading{.now_ms = std::max(now, last), .last_ms = last, .new_boot = new_boot};
}

Result<std::int64_t> StoreTime::look_ms() {
  HAPAX_TRY_ASSIGN(time, read());
  return time.now_ms;
}

Result<std::int64_t> StoreTime::now_ms() {
  HAPAX_TRY_ASSIGN(time, read());
  if (time.new_boot) return start_boot(time.now_ms);
  if (time.now_ms - time.last_ms >= kNoteEveryMs) {
    HAPAX_TRY(Run(note_).bind(time.now_ms).change("note the store's time"));
  }
  return time.now_ms;
}

Result<std::int64_t> StoreTime::start_boot(std::int64_t now_ms) {
  HAPAX_TRY(Run(start_)
                .bind_text(clock_->boot_id())
                .bind(to_ms(clock_->since_boot()))
                .bind(now_ms)
                .change("start the store's time"));
  return now_ms;
}

}  // namespace hapax::store::sqlite
