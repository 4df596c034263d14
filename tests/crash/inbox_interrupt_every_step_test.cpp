// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/inbox_opening.hpp"
#include "crash/interruption.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

// Every scene of the inbox while the N-th step of SQLite is interrupted, for every N. An operation
// must have happened entirely or not at all, as its answer states, even if the interruption comes
// right after a commit, which then reports failure although it took effect.
namespace hapax::test {
namespace {

class InboxInterruptions : public testing::TestWithParam<Scene> {
 protected:
  // Plays the scene and returns the steps to interrupt: all in ./test --long; otherwise some, and
  // every step around the end of a transaction.
  std::set<std::int64_t> steps() const;
  void interrupt(std::int64_t nth) const;

  const Scene& scene_ = GetParam();
  const Script script_ = script_of(scene_);
  const Opening opening_{scene_};
};

std::set<std::int64_t> InboxInterruptions::steps() const {
  const CrashVfs no_faults;  // avoids real syncs
  const TempDir dir;
  std::filesystem::copy_file(opening_.path(), dir.file("app.db"));
  Interruption interruption;
  FileInbox inbox(dir.file("app.db"), opening_.passed());
  Side side = opening_.known(inbox);
  interruption.arm(0);
  for (std::size_t i = 0; i < scene_.acts.size(); ++i) {
    EXPECT_EQ(side.apply(scene_.acts[i]).text, script_.answers[i]);
  }
  const std::int64_t apart = rounds(10) == 10 ? 1 : 37;
  std::set<std::int64_t> all;
  for (std::int64_t nth = 1; nth <= interruption.steps(); nth += apart) all.insert(nth);
  for (const std::int64_t each : interruption.ends()) all.insert({each - 1, each, each + 1});
  return all;
}

void InboxInterruptions::interrupt(std::int64_t nth) const {
  const CrashVfs no_faults;
  const TempDir dir;
  const std::string path = dir.file("app.db");
  std::filesystem::copy_file(opening_.path(), path);
  {
    Interruption interruption;
    FileInbox inbox(path, opening_.passed());
    Side side = opening_.known(inbox);
    interruption.arm(nth);
    Progress progress{scene_.acts.size(), false};
    for (std::size_t i = 0; i < scene_.acts.size(); ++i) {
      const std::string answer = side.apply(scene_.acts[i]).text;
      if (!interruption.reached()) continue;
      SCOPED_TRACE("answer: " + answer);
      progress = progress_after(scene_, script_, i, answer);
      // A sweep makes many calls: those before the interrupted one have happened.
      const bool sweeps = std::holds_alternative<SweepOp>(scene_.acts[i]);
      if (sweeps && progress.certain == i) progress.maybe_one_more = true;
      break;
    }
    interruption.arm(0);
    if (HasFailure()) return;
    expect_continues(side, scene_, script_, progress);
  }
  expect_consistent(path);
}

TEST_P(InboxInterruptions, EveryOperationIsAtomic) {
  for (const std::int64_t each : steps()) {
    SCOPED_TRACE("step " + std::to_string(each));
    interrupt(each);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sqlite, InboxInterruptions, testing::ValuesIn(inbox_scenes()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
