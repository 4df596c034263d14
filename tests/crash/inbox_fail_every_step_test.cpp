// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_scenes.hpp"
#include "crash/crash_vfs.hpp"
#include "crash/fault_shapes.hpp"
#include "crash/inbox_file.hpp"
#include "crash/inbox_opening.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

// Every scene of the inbox while the N-th write, sync, truncation or removal fails, or the power is
// cut, for every N until a run does not reach it. An operation must have happened entirely or not
// at all, as its answer states; a repeat must resolve an unknown outcome. This holds for the store
// that met the fault, for the file it leaves, and for the files a power cut would have left.
namespace hapax::test {
namespace {

// A file to be checked at the end, with the state expected of it.
struct Left {
  std::string path;
  Progress progress;
  milliseconds passed{};
  std::unique_ptr<Side> known;
};

// One run of one scene.
class ScenePlay {
 public:
  ScenePlay(const Scene& scene, const Script& script, const Opening& opening)
      : scene_(scene), script_(script), opening_(opening) {
    std::filesystem::copy_file(opening.path(), path());
  }

  // Returns whether the fault occurred. The disk works again after the operation that met it.
  bool fail(const CrashVfs::Fault& fault);
  // Returns whether the power was cut.
  bool cut(std::int64_t nth, int torn);
  void check() const;

 private:
  using Fates = std::vector<std::pair<Fate, std::uint64_t>>;

  std::string path() const { return dir_.file("app.db"); }
  void act_until_struck(const CrashVfs& vfs, Side& side);
  void recover(CrashVfs& vfs, FileInbox& inbox, Side& side);
  void keep_copies(const CrashVfs& vfs, const Fates& fates, const Progress& progress,
                   FileInbox& inbox, const Side& side);
  Progress current_progress() const { return progress_after(scene_, script_, next_, answer_); }

  const Scene& scene_;
  const Script& script_;
  const Opening& opening_;
  TempDir dir_;
  std::size_t next_ = 0;  // index of the operation
  std::string answer_;    // of the operation that met the fault
  std::vector<Left> left_;
  std::uint64_t seed_ = 0;
};

void ScenePlay::act_until_struck(const CrashVfs& vfs, Side& side) {
  for (; next_ < scene_.acts.size(); ++next_) {
    answer_ = side.apply(scene_.acts[next_]).text;
    if (vfs.reached()) return;
    EXPECT_EQ(answer_, script_.answers[next_]) << describe(scene_.acts[next_]);
  }
}

void ScenePlay::keep_copies(const CrashVfs& vfs, const Fates& fates, const Progress& progress,
                            FileInbox& inbox, const Side& side) {
  for (std::size_t i = 0; i < fates.size(); ++i) {
    const std::filesystem::path place = dir_.path() / std::to_string(i);
    vfs.materialize(place, fates[i].first, fates[i].second);
    left_.push_back({(place / "app.db").string(), progress, inbox.passed(),
                     std::make_unique<Side>(side, inbox)});
  }
}

// Checks the answers and the state of the store after it met the fault.
void ScenePlay::recover(CrashVfs& vfs, FileInbox& inbox, Side& side) {
  SCOPED_TRACE("answer: " + answer_);
  const Progress progress = current_progress();
  const Fate other = seed_ % 2 == 0 ? Fate::keep_all : Fate::tear;
  keep_copies(vfs, {{Fate::drop_all, 0}, {other, seed_}}, progress, inbox, side);
  vfs.disarm();
  expect_finishes(side, scene_, script_, progress);
}

bool ScenePlay::fail(const CrashVfs::Fault& fault) {
  seed_ = static_cast<std::uint64_t>(fault.nth);
  CrashVfs vfs;
  FileInbox inbox(path(), opening_.passed());
  Side side = opening_.known(inbox);
  vfs.fail(fault);
  act_until_struck(vfs, side);
  const bool struck = vfs.reached();
  if (struck) recover(vfs, inbox, side);
  const Progress all{scene_.acts.size(), false};
  left_.push_back({path(), all, inbox.passed(), std::make_unique<Side>(side, inbox)});
  inbox.close();
  return struck || vfs.reached();
}

bool ScenePlay::cut(std::int64_t nth, int torn) {
  CrashVfs vfs;
  FileInbox inbox(path(), opening_.passed());
  Side side = opening_.known(inbox);
  vfs.crash_at(nth);
  act_until_struck(vfs, side);
  const bool finished = next_ == scene_.acts.size();
  const Progress progress = finished ? Progress{next_, false} : current_progress();
  if (finished) inbox.close();  // the power may also fail during the close
  Fates fates = {{Fate::keep_all, 0}, {Fate::drop_all, 0}};
  for (int i = 0; i < torn; ++i) {
    fates.emplace_back(Fate::tear,
                       static_cast<std::uint64_t>(nth) * 1000 + static_cast<unsigned>(i));
  }
  keep_copies(vfs, fates, progress, inbox, side);
  return vfs.reached();
}

void ScenePlay::check() const {
  const CrashVfs no_faults;
  for (const Left& each : left_) {
    SCOPED_TRACE(each.path);
    {
      FileInbox inbox(each.path, each.passed, "boot-2");
      Side side(*each.known, inbox);
      expect_consistent(each.path);
      expect_continues(side, scene_, script_, each.progress);
    }
    expect_consistent(each.path);
    if (testing::Test::HasFailure()) return;
  }
}

class InboxFaults : public testing::TestWithParam<std::tuple<Shape, Scene>> {};

TEST_P(InboxFaults, EveryOperationIsAtomic) {
  const auto& shape = std::get<Shape>(GetParam());
  const auto& scene = std::get<Scene>(GetParam());  // clang 14 captures no structured binding
  const Script script = script_of(scene);
  const Opening opening(scene);
  CrashVfs::Fault fault = shape.fault;
  for_every_step(steps_of(shape), [&](std::int64_t nth) {
    ScenePlay play(scene, script, opening);
    fault.nth = nth;
    const bool reached = play.fail(fault);
    play.check();
    return reached;
  });
}

class InboxPowerCut : public testing::TestWithParam<Scene> {};

TEST_P(InboxPowerCut, LosesNothingAcknowledgedAndTearsNothing) {
  const Scene& scene = GetParam();
  const Script script = script_of(scene);
  const Opening opening(scene);
  for_every_step({}, [&](std::int64_t nth) {
    ScenePlay play(scene, script, opening);
    const bool reached = play.cut(nth, rounds(20));
    play.check();
    return reached;
  });
}

INSTANTIATE_TEST_SUITE_P(Disk, InboxFaults,
                         testing::Combine(testing::ValuesIn(kShapes),
                                          testing::ValuesIn(inbox_scenes())),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param).name) +
                                  std::get<1>(each.param).name;
                         });
INSTANTIATE_TEST_SUITE_P(Disk, InboxPowerCut, testing::ValuesIn(inbox_scenes()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
