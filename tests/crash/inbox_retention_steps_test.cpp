// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/inbox_opening.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

// Retention in its smallest steps, one row at a time, while the N-th disk operation fails or the
// power is cut, for every N. Each step is atomic: no part of an event outlives the rest of it, and
// a sweep resumed from any resulting file ends like an undisturbed one.
namespace hapax::test {
namespace {

const Scene& scene() {
  static const Scene retention = [] {
    const std::vector<Scene>& all = inbox_scenes();
    Scene found = *std::find_if(all.begin(), all.end(), [](const Scene& each) {
      return std::string(each.name) == "Retention";
    });
    auto sweep = std::get<SweepOp>(found.acts.front());
    sweep.limit = 1;
    found.acts = {sweep};
    return found;
  }();
  return retention;
}

class RetentionSteps : public testing::Test {
 protected:
  // Sweeps under the armed fault, then resumes the sweep from each resulting file.
  void play(const std::function<void(CrashVfs&)>& arm, const std::vector<Fate>& fates,
            bool& reached);
  void expect_resumes_from(const std::string& path);

  const Script script_ = script_of(scene());
  const Opening opening_{scene()};
};

void RetentionSteps::expect_resumes_from(const std::string& path) {
  SCOPED_TRACE(path);
  const CrashVfs no_faults;
  expect_consistent(path);
  {
    FileInbox inbox(path, opening_.passed(), "boot-2");
    Side side = opening_.known(inbox);
    side.apply(scene().acts.front());
    EXPECT_EQ(state_of(side, scene()), script_.states.back());
  }
  expect_consistent(path);
}

void RetentionSteps::play(const std::function<void(CrashVfs&)>& arm, const std::vector<Fate>& fates,
                          bool& reached) {
  const TempDir dir;
  const std::string path = dir.file("app.db");
  std::filesystem::copy_file(opening_.path(), path);
  std::vector<std::string> left;
  {
    CrashVfs vfs;
    FileInbox inbox(path, opening_.passed());
    Side side = opening_.known(inbox);
    arm(vfs);
    side.apply(scene().acts.front());
    reached = vfs.reached();
    std::uint64_t seed = 0;
    for (const Fate each : fates) {
      const std::filesystem::path place = dir.path() / std::to_string(++seed);
      vfs.materialize(place, each, seed);
      left.push_back((place / "app.db").string());
    }
    vfs.disarm();
    inbox.close();
  }
  for (const std::string& each : left) expect_resumes_from(each);
}

class RetentionFaults : public RetentionSteps, public testing::WithParamInterface<Shape> {};

TEST_P(RetentionFaults, EachStepIsAtomic) {
  CrashVfs::Fault fault = GetParam().fault;
  for_every_step(steps_of(GetParam()), [&](std::int64_t nth) {
    fault.nth = nth;
    bool reached = false;
    play([&](CrashVfs& vfs) { vfs.fail(fault); }, {Fate::drop_all, Fate::keep_all}, reached);
    return reached;
  });
}

TEST_F(RetentionSteps, APowerCutLeavesNoPartialEvent) {
  std::vector<Fate> fates{Fate::keep_all, Fate::drop_all};
  fates.insert(fates.end(), static_cast<std::size_t>(rounds(10)), Fate::tear);
  for_every_step({}, [&](std::int64_t nth) {
    bool reached = false;
    play([&](CrashVfs& vfs) { vfs.crash_at(nth); }, fates, reached);
    return reached;
  });
}

INSTANTIATE_TEST_SUITE_P(Disk, RetentionFaults, testing::ValuesIn(kShapes),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hapax::test
