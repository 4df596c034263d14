// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/race.hpp"
#include "support/world.hpp"

#include <hapax/store.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

// The parent process uses neither SQLite nor threads: a fork would copy their state.
namespace hapax::test {
namespace {

void claim_every_round(Race& race, const std::string& url, int count) {
  Result<Store> store = open(url, {.busy_timeout = kLongTimeout});
  if (!store) die(store.error());
  for (int round = 0; round < count; ++round) {
    const std::string id = "round " + std::to_string(round);
    race.meet();
    const Result<Dedup> claimed = store->dedup({.scope = "race", .id = id});
    if (!claimed) die(claimed.error());
    if (!claimed->duplicate) race.note_winner(round);
  }
}

TEST(ProcessRace, ExactlyOneOfEightProcessesClaimsAnId) {
  constexpr unsigned kProcesses = 8;
  const TempDir dir;
  const std::string url = "sqlite:" + dir.file("store.db");
  const int count = rounds(static_cast<int>(kRaceRoundsMax));
  SharedRace race(kProcesses);
  const std::function<void()> work = [&] { claim_every_round(*race, url, count); };
  run_in_processes(std::vector(kProcesses, work));
  race.expect_one_winner_each(count);
  RecordProperty("rounds", count);
}

void open_new_files(Race& race, const TempDir& dir, int count) {
  for (int round = 0; round < count; ++round) {
    const std::string file = "new-" + std::to_string(round) + ".db";
    race.meet();
    Result<Store> store = open("sqlite:" + dir.file(file), {.busy_timeout = kLongTimeout});
    if (!store) die(store.error());
    const Result<Dedup> claimed = store->dedup({.scope = "race", .id = "first"});
    if (!claimed) die(claimed.error());
    if (!claimed->duplicate) race.note_winner(round);
  }
}

TEST(ProcessRace, TwoProcessesOpenTheSameNewFileAndBothSucceed) {
  const TempDir dir;
  const int count = rounds(100);
  SharedRace race(2);
  const std::function<void()> work = [&] { open_new_files(*race, dir, count); };
  run_in_processes({work, work});
  race.expect_one_winner_each(count);
  RecordProperty("rounds", count);
}

}  // namespace
}  // namespace hapax::test
