// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace hapax::sim {

namespace {

void expect_passes(std::uint64_t seed) {
  Options options;
  options.seed = seed;
  const Report report = simulate(options);
  if (!report.failure) return;
  std::string history;
  for (const std::string& each : report.last_lines) history += each + "\n";
  ADD_FAILURE() << "hapax_sim " << seed << ": " << report.failure->oracle << ": "
                << report.failure->detail << "\n"
                << history;
}

constexpr std::uint64_t kShards = 10;

// 10,000 in ./test --long, 1,000 in ./test.
std::uint64_t seeds_of_a_shard() {
  return static_cast<std::uint64_t>(test::rounds(10'000)) / kShards;
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, EveryInvariantHoldsAndEverythingCompletes) {
  for (std::uint64_t i = 0; i < seeds_of_a_shard(); ++i) {
    expect_passes(1 + GetParam() + i * kShards);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, Seeds, testing::Range(std::uint64_t{0}, kShards));

// Seeds that found a bug. If a change of the simulator changes their histories, reintroduce the bug
// and choose a seed that finds it.

TEST(FoundBySeed, ADispatcherDoesNotSpinWhenALeaseExpiresAtThisInstant) {
  expect_passes(23);
}

TEST(FoundBySeed, LeasesThatASlowStoreDidNotTakeBackInTimeExpire) {
  expect_passes(7111);
}

std::string run_in_process(std::uint64_t seed) {
  const std::string command = std::string(HAPAX_SIM) + " " + std::to_string(seed);
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 512> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  EXPECT_EQ(pclose(pipe), 0) << text;
  return text;
}

TEST(Simulator, TheSameSeedGivesTheSameHistoryInEveryProcess) {
  for (const std::uint64_t seed : {7U, 8U, 9U}) {
    const std::string first = run_in_process(seed);
    EXPECT_NE(first.find("history"), std::string::npos) << first;
    EXPECT_EQ(first, run_in_process(seed));
  }
}

TEST(Simulator, TheSameSeedGivesTheSameHistoryOnEveryStore) {
  const auto seeds = static_cast<std::uint64_t>(test::rounds(300));
  for (Options options; options.seed <= seeds && !testing::Test::HasFailure(); ++options.seed) {
    options.sqlite = false;
    const Report memory = simulate(options);
    options.sqlite = true;
    const Report sqlite = simulate(options);
    EXPECT_FALSE(sqlite.failure) << "hapax_sim " << options.seed << " --sqlite";
    EXPECT_EQ(memory.hash, sqlite.hash) << "hapax_sim " << options.seed << " [--sqlite]";
  }
}

TEST(Simulator, OtherSeedsGiveOtherHistories) {
  EXPECT_NE(run_in_process(7).substr(7), run_in_process(8).substr(7));
}

}  // namespace

}  // namespace hapax::sim
