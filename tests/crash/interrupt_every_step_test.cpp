// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/interruption.hpp"
#include "crash/truth.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

// Every statement is interrupted at every point where SQLite can be: the N-th call of a progress
// handler says stop, for every N until a run passes. SQLite then ends the statement, and mostly the
// whole transaction with it; what hapax answers must be true all the same.
namespace hapax::test {
namespace {

constexpr std::int64_t kInterruptedStepsMax = 20000;
constexpr std::int64_t kApart = 11;  // of the migrations, in a short run

class InterruptEveryStep : public testing::Test {
 protected:
  // `first_file`, when not empty, is copied for every run. Of steps that are very many, only every
  // `apart`-th is interrupted.
  void interrupt_every_step(const std::string& first_file,
                            const std::function<void(World&, const std::string& path)>& play,
                            const std::function<void(World&, const std::string& path)>& check,
                            std::int64_t apart = 1) {
    for (std::int64_t nth = 1; nth <= kInterruptedStepsMax; nth += apart) {
      SCOPED_TRACE("step " + std::to_string(nth));
      const CrashVfs no_faults;  // saves the time of real syncs
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
      if (HasFailure()) return;
      if (reached) continue;
      RecordProperty("steps", static_cast<int>(nth - 1));
      return;
    }
    FAIL() << "the run does not end";
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
        [&](World& world, const std::string& path) { expect_jobs_told_truly(world, path, jobs); });
  }
};

TEST_F(InterruptEveryStep, AFileWhoseFirstOpeningFailedCanBeOpenedAgain) {
  interrupt_every_step(
      "",
      [](World& world, const std::string& path) {
        const Result<Store> store = open("sqlite:" + path, world.options());
      },
      expect_store_complete, is_long_run() ? 1 : kApart);
}

TEST_F(InterruptEveryStep, DedupTellsTheTruthOfEveryId) {
  const TempDir dir;
  std::vector<Asked> asked;
  interrupt_every_step(
      make_first_file(dir, "WAL"),
      [&](World& world, const std::string& path) {
        asked = ask_for_ids(world, path, [](Store*) {});
        EXPECT_LE(failures(asked), 1U);
      },
      [&](World& world, const std::string& path) { expect_ids_told_truly(world, path, asked); });
}

TEST_F(InterruptEveryStep, OnceInATransactionOfHapaxTellsTheTruth) {
  interrupt_jobs(Way::begin);
}

TEST_F(InterruptEveryStep, OnceInATransactionOfTheCallerTellsTheTruth) {
  interrupt_jobs(Way::join);
}

TEST_F(InterruptEveryStep, OnceCommittedInSpiteOfItsErrorBurnsNothing) {
  interrupt_jobs(Way::join_and_commit_anyway);
}

}  // namespace
}  // namespace hapax::test
