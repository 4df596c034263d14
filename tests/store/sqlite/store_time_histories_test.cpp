// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/file/schema.hpp"
#include "store/sqlite/file/store_time.hpp"
#include "store/sqlite/machine.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <memory>
#include <optional>

// Store time in random histories of a machine with faulty clocks, compared with a model and with
// the true time.
namespace hapax::store::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::Machine;

// The rule of ADR 6, on a reference in memory.
class TimeModel {
 public:
  std::int64_t look(const Clock& clock) const { return noted_ms_ + elapsed(clock); }
  std::int64_t write(const Clock& clock) {
    const std::int64_t now = look(clock);
    if (is_due(clock)) {
      boot_id_ = clock.boot_id();
      boot_ms_ = ms(clock.since_boot());
      wall_ms_ = ms(clock.wall().time_since_epoch());
      noted_ms_ = now;
      ++notes_;
    }
    return now;
  }
  std::int64_t noted_ms() const { return noted_ms_; }
  int notes() const { return notes_; }

 private:
  static std::int64_t ms(microseconds time) { return time.count() / 1000; }
  std::int64_t boot(const Clock& clock) const { return ms(clock.since_boot()) - boot_ms_; }
  std::int64_t wall(const Clock& clock) const {
    return ms(clock.wall().time_since_epoch()) - wall_ms_;
  }
  bool apart(const Clock& clock, std::int64_t by) const {
    const std::int64_t off = boot(clock) - wall(clock);
    return off > by || off < -by;
  }
  std::int64_t elapsed(const Clock& clock) const {
    std::int64_t passed = boot(clock);
    if (clock.boot_id() != boot_id_) {
      passed = wall(clock);
    } else if (passed >= 0 && apart(clock, 60'000) && wall(clock) < passed) {
      passed = wall(clock);
    }
    return passed < 0 ? 0 : passed;
  }
  bool is_due(const Clock& clock) const {
    return clock.boot_id() != boot_id_ || boot(clock) < 0 || boot(clock) >= 1000 ||
           apart(clock, 1000);
  }

  std::string boot_id_;
  std::int64_t boot_ms_ = 0;
  std::int64_t wall_ms_ = 0;
  std::int64_t noted_ms_ = 0;
  int notes_ = 0;
};

class StoreTimeHistories : public testing::Test {
 protected:
  static constexpr std::size_t kHandles = 3;

  void SetUp() override {
    for (auto& each : dbs_) {
      sqlite3* db = nullptr;
      ASSERT_EQ(sqlite3_open(directory_.file("t.db").c_str(), &db), SQLITE_OK);
      each.reset(db);
      ASSERT_TRUE(execute(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF", "test"));
    }
    ASSERT_TRUE(migrate(dbs_[0].get()));
  }

  void begin_history(std::uint64_t seed) {
    random_.emplace(seed);
    machine_.emplace();
    model_ = {};
    execute_sql(0, "UPDATE hapax_clock SET boot_id = '', boot_ms = 0, wall_ms = 0, store_ms = 0");
    attach_all();
    write(0);
    noted_ = here();
  }
  void attach_all() {
    for (std::size_t each = 0; each < kHandles; ++each) {
      times_[each].emplace(StoreTime::prepare(dbs_[each].get(), machine_->clock()).value());
    }
  }

  std::uint64_t below(std::uint64_t limit) { return random_->below(limit); }
  // Mostly short, rarely many days.
  microseconds span() {
    constexpr std::array<microseconds, 6> kScales{milliseconds(2), seconds(2), minutes(1),
                                                  minutes(3),      hours(2),   80 * days};
    const microseconds scale = kScales[below(kScales.size())];
    return microseconds(below(static_cast<std::uint64_t>(scale.count())));
  }
  microseconds either_way() { return below(2) == 0 ? span() : -span(); }

  void step() {
    const std::uint64_t what = below(20);
    if (what < 8) {
      machine_->run(span());
    } else if (what < 9) {
      machine_->pause(span());
    } else if (what < 11) {
      machine_->set_wall(below(3) == 0 ? either_way() : microseconds(0));
    } else if (what < 12) {
      machine_->jump_boot(either_way());
    } else if (what < 13) {
      machine_->reboot(span(), below(2) == 0 ? either_way() : microseconds(0));
      attach_all();
      ++boots_;
    } else {
      const std::size_t handle = below(kHandles);
      if (what < 15) {
        EXPECT_EQ(times_[handle]->peek_ms().value(), model_.look(machine_->clock()));
      } else if (what < 16) {
        roll_back_write(handle);
      } else {
        write(handle);
        check_against_true_time();
      }
    }
  }

  void write(std::size_t handle) {
    execute_sql(handle, "BEGIN IMMEDIATE");
    EXPECT_EQ(times_[handle]->now_ms().value(), model_.write(machine_->clock()));
    execute_sql(handle, "COMMIT");
  }
  // A reference that was not committed has no effect.
  void roll_back_write(std::size_t handle) {
    execute_sql(handle, "BEGIN IMMEDIATE");
    EXPECT_EQ(times_[handle]->now_ms().value(), model_.look(machine_->clock()));
    execute_sql(handle, "ROLLBACK");
  }

  // Independent of the rule: between two references the store time advances at most as much as true
  // time, plus the amount by which the wall clock moved ahead over a reboot, or both clocks within
  // a boot.
  struct Moment {
    microseconds true_time;
    microseconds wall_error;
    microseconds boot_error;
    std::int64_t store_ms;
    int boots;
    int notes;
  };
  Moment here() const {
    return {machine_->true_time(),
            machine_->wall_error(),
            machine_->boot_clock() - machine_->true_time(),
            model_.noted_ms(),
            boots_,
            model_.notes()};
  }
  void check_against_true_time() {
    const Moment now = here();
    if (now.notes == noted_.notes) return;
    const microseconds by_wall = now.wall_error - noted_.wall_error;
    microseconds excess = by_wall;
    if (now.boots == noted_.boots) {
      const microseconds by_boot = now.boot_error - noted_.boot_error;
      excess = std::min<microseconds>(by_boot, std::max(by_wall, microseconds(0)) + minutes(1));
    }
    excess = std::max(excess, microseconds(0)) + milliseconds(2);  // rounding, of either clock
    EXPECT_LE(milliseconds(now.store_ms - noted_.store_ms),
              now.true_time - noted_.true_time + excess);
    EXPECT_GE(now.store_ms, noted_.store_ms);
    noted_ = now;
  }
  // From the next reference on, every handle sees time advance normally.
  void check_that_time_advances() {
    write(0);
    const std::int64_t start = model_.look(machine_->clock());
    for (std::int64_t passed = 500; passed < 10'000; passed += 500) {
      machine_->run(milliseconds(500));
      EXPECT_EQ(times_[below(kHandles)]->peek_ms().value(), start + passed);
      if (below(3) == 0) write(below(kHandles));
    }
  }

  void execute_sql(std::size_t handle, const char* sql) {
    ASSERT_TRUE(execute(dbs_[handle].get(), sql, "test")) << sql;
  }

  struct CloseHandle {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  test::TempDir directory_;
  std::array<std::unique_ptr<sqlite3, CloseHandle>, kHandles> dbs_;  // need not be durable
  std::array<std::optional<StoreTime>, kHandles> times_;
  std::optional<test::SeededRandom> random_;
  std::optional<Machine> machine_;
  TimeModel model_;
  Moment noted_{};
  int boots_ = 0;
};

TEST_F(StoreTimeHistories, AThousandHistoriesAgreeWithTheModelAndWithTrueTime) {
  constexpr std::uint64_t kHistories = 1000;
  constexpr int kSteps = 60;
  for (std::uint64_t seed = 1; seed <= kHistories && !HasFailure(); ++seed) {
    SCOPED_TRACE("history " + std::to_string(seed));
    begin_history(seed);
    for (int each = 0; each < kSteps && !HasFailure(); ++each) {
      SCOPED_TRACE("step " + std::to_string(each));
      step();
    }
    check_that_time_advances();
  }
}

}  // namespace
}  // namespace hapax::store::sqlite
