// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/store_time.hpp"

#include "base/try.hpp"
#include "store/sqlite/claims/statements.hpp"

#include <algorithm>
#include <cstdlib>

namespace hapax::store::sqlite {

namespace {

// How often a busy store rewrites its note. It also does so when the clocks differ by more than
// this.
constexpr std::int64_t kNoteEveryMs = 1000;
// If the clocks differ by more, one of them was set or did not see a pause. Clocks that are only
// slewed differ by less.
constexpr std::int64_t kClocksAgreeMs = 60'000;

template <class Duration>
std::int64_t to_ms(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// The time since the note, by each clock.
struct Elapsed {
  bool same_boot;
  std::int64_t boot_ms;  // meaningless after a reboot
  std::int64_t wall_ms;

  std::int64_t difference_ms() const { return std::abs(boot_ms - wall_ms); }

  // A boot clock that is behind the note is that of a restored snapshot: the elapsed time is
  // unknown. If the clocks disagree, the smaller difference counts: too little keeps a claim
  // longer, too much would expire it early.
  std::int64_t store_ms() const {
    if (!same_boot) return std::max<std::int64_t>(0, wall_ms);
    if (boot_ms < 0) return 0;
    if (difference_ms() <= kClocksAgreeMs) return boot_ms;
    return std::max<std::int64_t>(0, std::min(boot_ms, wall_ms));
  }

  bool is_note_due() const {
    return !same_boot || boot_ms < 0 || boot_ms >= kNoteEveryMs || difference_ms() > kNoteEveryMs;
  }
};

}  // namespace

StoreTime::StoreTime(Clock& clock, Statement read, Statement note)
    : clock_(&clock), read_(std::move(read)), note_(std::move(note)) {}

Result<StoreTime> StoreTime::prepare(sqlite3* db, Clock& clock) {
  HAPAX_TRY_ASSIGN(read, Statement::prepare(db, kReadClock));
  HAPAX_TRY_ASSIGN(note, Statement::prepare(db, kNoteClock));
  return StoreTime(clock, std::move(read), std::move(note));
}

// Reads the wall clock last: a pause between the two readings must be in the note, or the next boot
// counts it.
Result<StoreTime::Reading> StoreTime::read() {
  Run row(read_);
  HAPAX_TRY_ASSIGN(found, row.step("read the store's time"));
  if (!found) {
    return Error(Code::store_corrupt, "the table hapax_clock is empty; it must have one row");
  }
  Reading now;
  now.boot_ms = to_ms(clock_->since_boot());
  now.wall_ms = to_ms(clock_->wall().time_since_epoch());
  const bool same_boot = row.bytes(0) == clock_->boot_id();
  const std::int64_t noted_ms = row.number(3);
  // The note of an older hapax has no wall clock. Its store time started at the wall clock of its
  // boot and stands in for it; after a reboot the elapsed time is unknown.
  const std::int64_t noted_wall_ms = row.maybe(2).value_or(same_boot ? noted_ms : now.wall_ms);
  const Elapsed elapsed{same_boot, now.boot_ms - row.number(1), now.wall_ms - noted_wall_ms};
  now.now_ms = noted_ms + elapsed.store_ms();
  now.is_note_due = elapsed.is_note_due();
  return now;
}

Result<std::int64_t> StoreTime::peek_ms() {
  HAPAX_TRY_ASSIGN(now, read());
  return now.now_ms;
}

Result<std::int64_t> StoreTime::now_ms() {
  HAPAX_TRY_ASSIGN(now, read());
  if (!now.is_note_due) return now.now_ms;
  Run note(note_);
  note.bind_text(clock_->boot_id()).bind(now.boot_ms).bind(now.wall_ms).bind(now.now_ms);
  HAPAX_TRY(note.change("note the store's time"));
  return now.now_ms;
}

}  // namespace hapax::store::sqlite
