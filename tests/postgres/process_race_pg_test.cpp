// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/postgres.hpp"
#include "support/race.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace hapax::test {
namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kProcesses = 8;

void claim_every_round(Race& race, Store& store, int count) {
  for (int round = 0; round < count; ++round) {
    const std::string id = "round " + std::to_string(round);
    race.meet();
    const Result<Dedup> claimed = store.dedup({.scope = "race", .id = id});
    if (!claimed) die(claimed.error());
    if (!claimed->duplicate) race.note_winner(round);
  }
}

void race_in_threads(Race& race, const std::string& url, unsigned threads, int count) {
  Result<Store> store = open(url, {.timeout = kLongTimeout});
  if (!store) die(store.error());
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&] { claim_every_round(race, *store, count); });
  }
}

// Sixty-four threads share a store in one process; eight more processes have a store each.
TEST(ProcessRacePostgres, ExactlyOneOfManyThreadsAndProcessesClaimsAnId) {
  const PostgresDatabase database;
  const int count = rounds(static_cast<int>(kRaceRoundsMax));
  SharedRace race(kThreads + kProcesses);
  const auto process = [&](unsigned threads) {
    return [&race, &database, count, threads] {
      race_in_threads(*race, database.url(), threads, count);
    };
  };
  std::vector<std::function<void()>> works(kProcesses, process(1));
  works.push_back(process(kThreads));
  run_in_processes(works);
  race.expect_one_winner_each(count);
  EXPECT_EQ(ask(database.connect().get(), "SELECT count(*) FROM hapax.claim"),
            std::to_string(count));
  RecordProperty("rounds", count);
}

}  // namespace
}  // namespace hapax::test
