// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/machine.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

// Claims through the public API on a machine with faulty clocks.
namespace hapax::store::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::Machine;

class StoreTimeOnAMachine : public testing::Test {
 protected:
  StoreTimeOnAMachine() { open_store(); }

  void open_store() {
    store_.reset();
    store_ = open("sqlite:" + file_, {.clock = &machine_.clock()}).value();
  }
  // A power cut: the crash leaves the contents of the disk.
  void cut_power(microseconds off, microseconds wall_error = {}) {
    const std::string copy = file_ + "-after";
    for (const char* part : {"", "-wal"}) {
      std::filesystem::copy_file(file_ + part, copy + part);
    }
    store_.reset();
    file_ = copy;
    machine_.reboot(off, wall_error);
    open_store();
  }
  void reboot(microseconds off, microseconds wall_error = {}) {
    store_.reset();
    machine_.reboot(off, wall_error);
    open_store();
  }

  // Returns true if the id was unclaimed; claims it.
  bool claim(std::string_view id, milliseconds ttl) {
    return !store_->dedup({.scope = "s", .id = id, .ttl = ttl})->duplicate;
  }
  void expect_time_advances() {
    const std::string id = "goes on " + std::to_string(++probes_);
    EXPECT_TRUE(claim(id, seconds(1)));
    machine_.run(milliseconds(999));
    EXPECT_FALSE(claim(id, seconds(1)));
    machine_.run(milliseconds(1));
    EXPECT_TRUE(claim(id, seconds(1)));
  }

  static constexpr std::string_view kEvent = "E";
  test::TempDir directory_;
  std::string file_ = directory_.file("t.db");
  Machine machine_;
  std::optional<Store> store_;
  int probes_ = 0;
};

TEST_F(StoreTimeOnAMachine, AClaimAfterAPauseOf40DaysOutlivesAReboot) {
  EXPECT_TRUE(claim("before", hours(1)));
  machine_.pause(40 * days);
  machine_.set_wall({});
  EXPECT_TRUE(claim(kEvent, 30 * days));
  machine_.run(minutes(10));
  expect_time_advances();
  reboot(minutes(1));
  EXPECT_FALSE(claim(kEvent, 30 * days));
  expect_time_advances();
  machine_.run(30 * days);
  EXPECT_TRUE(claim(kEvent, 30 * days));
}

TEST_F(StoreTimeOnAMachine, AClaimDuringAPauseOutlivesARebootWhenTheWallClockIsSetLater) {
  EXPECT_TRUE(claim("before", hours(1)));
  machine_.pause(40 * days);
  machine_.run(milliseconds(300));
  EXPECT_TRUE(claim(kEvent, 30 * days)) << "the wall clock is still 40 days behind";
  machine_.set_wall({});
  machine_.run(milliseconds(300));
  EXPECT_TRUE(claim("after", hours(1)));
  reboot(minutes(1));
  EXPECT_FALSE(claim(kEvent, 30 * days));
}

TEST_F(StoreTimeOnAMachine, AClock40DaysBehindAtBootAndThenSetExpiresNoClaim) {
  EXPECT_TRUE(claim("of an earlier boot", 30 * days));
  reboot(minutes(1), -40 * days);
  EXPECT_FALSE(claim("of an earlier boot", 30 * days));
  EXPECT_TRUE(claim("before it is set", 30 * days));
  machine_.run(minutes(1));
  machine_.set_wall({});
  EXPECT_TRUE(claim("after it is set", 30 * days));
  machine_.run(minutes(10));
  expect_time_advances();
  reboot(minutes(1));
  for (const char* id : {"of an earlier boot", "before it is set", "after it is set"}) {
    EXPECT_FALSE(claim(id, 30 * days)) << id;
  }
  expect_time_advances();
}

TEST_F(StoreTimeOnAMachine, ANewFileOnAClock40DaysBehindExpiresNoClaim) {
  store_.reset();
  file_ = directory_.file("new.db");
  machine_.reboot({}, -40 * days);
  open_store();
  EXPECT_TRUE(claim("before it is set", 30 * days));
  machine_.set_wall({});
  EXPECT_TRUE(claim("after it is set", 30 * days));
  reboot(minutes(1));
  EXPECT_FALSE(claim("before it is set", 30 * days));
  EXPECT_FALSE(claim("after it is set", 30 * days));
}

TEST_F(StoreTimeOnAMachine, AWallClockSetBack40DaysWhileBusyCostsASecondAtMost) {
  EXPECT_TRUE(claim(kEvent, minutes(2)));
  for (int second = 0; second < 119; ++second) {
    if (second == 50) machine_.set_wall(-40 * days);
    machine_.run(seconds(1));
    ASSERT_FALSE(claim(kEvent, minutes(2))) << second;
  }
  machine_.run(seconds(2));
  EXPECT_TRUE(claim(kEvent, minutes(2)));
}

TEST_F(StoreTimeOnAMachine, AWallClockSetBack40DaysWhileIdleCostsTheTimeSinceTheLastReference) {
  EXPECT_TRUE(claim(kEvent, hours(1)));
  machine_.run(minutes(30));
  machine_.set_wall(-40 * days);
  EXPECT_FALSE(claim(kEvent, hours(1)))
      << "the reference is rewritten here: the half hour does not count";
  machine_.run(hours(1) - milliseconds(1));
  EXPECT_FALSE(claim(kEvent, hours(1)));
  machine_.run(milliseconds(1));
  EXPECT_TRUE(claim(kEvent, hours(1)));
  machine_.set_wall({});
  EXPECT_FALSE(claim(kEvent, hours(1))) << "the wall clock is correct again";
  expect_time_advances();
}

TEST_F(StoreTimeOnAMachine, ASnapshotWithAnOlderBootClockNeitherExpiresClaimsNorStopsTime) {
  machine_.run(50 * days);
  EXPECT_TRUE(claim(kEvent, 30 * days));
  machine_.jump_boot(-21 * days);
  EXPECT_FALSE(claim(kEvent, 30 * days));
  expect_time_advances();
  // The wall clock is restored as well, so that the two clocks agree.
  machine_.jump_boot(-10 * days);
  machine_.set_wall(-10 * days);
  EXPECT_FALSE(claim(kEvent, 30 * days));
  expect_time_advances();
  reboot(minutes(1), -10 * days);
  EXPECT_FALSE(claim(kEvent, 30 * days));
}

TEST_F(StoreTimeOnAMachine, ASnapshotWithANewerBootClockExpiresNoClaim) {
  EXPECT_TRUE(claim(kEvent, 30 * days));
  machine_.jump_boot(40 * days);
  machine_.run(minutes(5));
  EXPECT_FALSE(claim(kEvent, 30 * days));
  expect_time_advances();
  machine_.run(30 * days - minutes(5));
  EXPECT_TRUE(claim(kEvent, 30 * days)) << "wall and boot clock saw the time pass";
}

TEST_F(StoreTimeOnAMachine, AClaimWithinASecondAfterAPauseOutlivesAPowerCut) {
  EXPECT_TRUE(claim("before", hours(1)));
  machine_.pause(40 * days);
  machine_.set_wall({});
  machine_.run(milliseconds(200));
  EXPECT_TRUE(claim(kEvent, 30 * days));
  cut_power(minutes(1));
  EXPECT_FALSE(claim(kEvent, 30 * days));
  expect_time_advances();
}

// The limitation stated in ADR 6: the difference cannot be distinguished from time powered off.
TEST_F(StoreTimeOnAMachine, AWallClockAheadAtBootExpiresClaimsEarlyByExactlyThatMuch) {
  EXPECT_TRUE(claim(kEvent, 30 * days));
  reboot(minutes(1), 10 * days);
  EXPECT_FALSE(claim(kEvent, 30 * days));
  machine_.set_wall({});
  EXPECT_FALSE(claim(kEvent, 30 * days));
  machine_.run(20 * days - minutes(1) - milliseconds(1));
  EXPECT_FALSE(claim(kEvent, 30 * days));
  machine_.run(milliseconds(1));
  EXPECT_TRUE(claim(kEvent, 30 * days));
}

}  // namespace
}  // namespace hapax::store::sqlite
