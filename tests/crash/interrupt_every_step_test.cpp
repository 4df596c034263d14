// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/interruption.hpp"
#include "crash/truth.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>

// Every statement is interrupted at every point where SQLite allows it: the N-th call of a progress
// handler requests it, for every N until a run does not reach it. SQLite then ends the statement,
// and usually the whole transaction. hapax's answers must still be true.
namespace hapax::test {
namespace {

constexpr std::int64_t kInterruptedStepsMax = 20000;
constexpr std::int64_t kApart = 11;  // distance of steps in a short run, for migrations

class InterruptEveryStep : public testing::Test {
 protected:
  using Part = std::function<void(World&, const std::string& path)>;

  // `first_file`, unless empty, is copied for every run.
  void interrupt_every_step(const std::string& first_file, const Part& play, const Part& check) {
    for (std::int64_t nth = 1; nth <= kInterruptedStepsMax; ++nth) {
      const bool reached = interrupt(nth, first_file, play, check);
      if (HasFailure()) return;
      if (reached) continue;
      RecordProperty("steps", static_cast<int>(nth - 1));
      return;
    }
    FAIL() << "the run does not end";
  }

  // For long sequences: every kApart-th step, and those around the end of a transaction. All steps
  // in
  // ./test --long.
  void interrupt_some_steps(const Part& play, const Part& check) {
    if (is_long_run()) return interrupt_every_step("", play, check);
    for (const std::int64_t each : some_steps(play)) {
      interrupt(each, "", play, check);
      if (HasFailure()) return;
    }
  }

  // Returns whether the step was reached.
  bool interrupt(std::int64_t nth, const std::string& first_file, const Part& play,
                 const Part& check) {
    SCOPED_TRACE("step " + std::to_string(nth));
    const CrashVfs no_faults;  // avoids real syncs
    const TempDir dir;
    const std::string path = dir.file("app.db");
    if (!first_file.empty()) std::filesystem::copy_file(first_file, path);
    World world;
    bool reached = false;
    {
      const Interruption interruption(nth);
      play(world, path);
      reached = interruption.reached();
    }
    check(world, path);
    return reached;
  }

  static std::set<std::int64_t> some_steps(const Part& play) {
    const CrashVfs no_faults;
    const TempDir dir;
    World world;
    const Interruption interruption;
    play(world, dir.file("app.db"));
    std::set<std::int64_t> some;
    for (std::int64_t nth = 1; nth <= interruption.steps(); nth += kApart) some.insert(nth);
    for (const std::int64_t each : interruption.ends()) some.insert({each - 1, each, each + 1});
    return some;
  }

  void interrupt_jobs(Way way) {
    const TempDir dir;
    std::vector<Job> jobs;
    interrupt_every_step(
        make_first_file(dir, "WAL"),
        [&](World& world, const std::string& path) {
          jobs = run_jobs(world, path, way, "", [] {});
          EXPECT_LE(failures(jobs), 1U);
        },
        [&](World& world, const std::string& path) { expect_jobs_exact(world, path, jobs); });
  }
};

TEST_F(InterruptEveryStep, AFileCanBeOpenedAfterAFailedFirstOpen) {
  interrupt_some_steps(
      [](World& world, const std::string& path) {
        const Result<Store> store = open("sqlite:" + path, world.options());
      },
      expect_store_complete);
}

TEST_F(InterruptEveryStep, TheOutcomeOfEveryIdIsExact) {
  const TempDir dir;
  std::vector<ClaimCall> calls;
  interrupt_every_step(
      make_first_file(dir, "WAL"),
      [&](World& world, const std::string& path) {
        calls = run_claims(world, path, [](Store*) {});
        EXPECT_LE(failures(calls), 1U);
      },
      [&](World& world, const std::string& path) { expect_claims_exact(world, path, calls); });
}

TEST_F(InterruptEveryStep, OutcomesAreExactInATransactionOfHapax) {
  interrupt_jobs(Way::begin);
}

TEST_F(InterruptEveryStep, OutcomesAreExactInATransactionOfTheCaller) {
  interrupt_jobs(Way::join);
}

TEST_F(InterruptEveryStep, ACommitDespiteAnErrorOfOnceBurnsNoId) {
  interrupt_jobs(Way::join_and_commit_anyway);
}

}  // namespace
}  // namespace hapax::test
