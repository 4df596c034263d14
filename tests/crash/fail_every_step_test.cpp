// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/crash_vfs.hpp"
#include "crash/fault_shapes.hpp"
#include "crash/truth.hpp"
#include "support/durations.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <tuple>

// The N-th write, sync, truncation or removal fails, for every N until a run passes without meeting
// it. Whatever was answered must then be true of the file as it is, and of the file as a power cut
// before the close would have left it.
namespace hapax::test {
namespace {

constexpr std::int64_t kFailedStepsMax = 2000;  // a run that is longer than this has gone wrong

// What one run may touch: the file it works on, a power cut to call, and the end of the fault.
struct Stage {
  World& world;
  std::string path;
  std::function<void()> cut;
  std::function<void()> repair;
  bool database_struck = false;  // known after repair()
};

// A program, and the check of what it was told on a file that it may have left.
struct Play {
  std::function<void(Stage&)> run;
  std::function<void(World&, const std::string& path)> check;
};

class FailingSteps : public testing::Test {
 public:
  explicit FailingSteps(const Shape& shape) : shape_(shape) {}

 protected:
  // `first_file`, when not empty, is copied for every run.
  void fail_every_step(const std::string& first_file, const Play& play) {
    for (std::int64_t nth = 1; nth <= kFailedStepsMax; ++nth) {
      SCOPED_TRACE(std::string(shape_.name) + ", operation " + std::to_string(nth));
      const bool reached = fail_one_step(nth, first_file, play);
      if (HasFailure()) return;
      if (reached) continue;
      RecordProperty("steps", static_cast<int>(nth - 1));
      return;
    }
    FAIL() << "the run does not end";
  }

  // What failed once must not make the next call fail too.
  template <class Calls>
  void expect_few_failures(const Calls& calls) const {
    EXPECT_TRUE(shape_.fault.lasting || failures(calls) <= 1) << failures(calls);
  }

  const Shape shape_;

 private:
  bool fail_one_step(std::int64_t nth, const std::string& first_file, const Play& play) const {
    const TempDir dir;
    const std::string path = dir.file("app.db");
    if (!first_file.empty()) std::filesystem::copy_file(first_file, path);
    World world;
    bool reached = false;
    {
      CrashVfs vfs;
      CrashVfs::Fault fault = shape_.fault;
      fault.nth = nth;
      vfs.fail(fault);
      Stage stage{.world = world, .path = path, .cut = {}, .repair = {}, .database_struck = false};
      stage.cut = [&] {
        vfs.materialize(dir.path() / "dropped", Fate::drop_all, 0);
        vfs.materialize(dir.path() / "torn", Fate::tear, static_cast<unsigned>(nth));
      };
      stage.repair = [&] {
        reached = vfs.reached();
        stage.database_struck = vfs.reached_database();
        vfs.disarm();
      };
      play.run(stage);
      reached = reached || vfs.reached();
    }
    const CrashVfs no_faults;  // saves the check the time of real syncs
    for (const char* place : {"", "dropped", "torn"}) {
      SCOPED_TRACE(std::string("the file in '") + place + "'");
      play.check(world, (dir.path() / place / "app.db").string());
    }
    return reached;
  }
};

class FailEveryStep : public FailingSteps, public testing::WithParamInterface<Shape> {
 protected:
  FailEveryStep() : FailingSteps(GetParam()) {}
};

TEST_P(FailEveryStep, AFileWhoseFirstOpeningFailedCanBeOpenedAgain) {
  fail_every_step("", {.run =
                           [](Stage& stage) {
                             const Result<Store> store =
                                 open("sqlite:" + stage.path, stage.world.options());
                             stage.cut();
                           },
                       .check = expect_store_complete});
}

TEST_P(FailEveryStep, ACallersFileWhoseMigrationFailedCanBeMigratedAgain) {
  fail_every_step("", {.run =
                           [](Stage& stage) {
                             const Db db = open_db(stage.path);
                             if (db) {
                               const auto session =
                                   SqliteSession::attach(db.get(), stage.world.session_options());
                             }
                             stage.cut();
                           },
                       .check = expect_store_complete});
}

TEST_P(FailEveryStep, DedupTellsTheTruthOfEveryId) {
  const TempDir dir;
  std::vector<Asked> asked;
  fail_every_step(
      make_first_file(dir, "WAL"),
      {.run =
           [&](Stage& stage) {
             asked = ask_for_ids(stage.world, stage.path, [&](Store*) { stage.cut(); });
             expect_few_failures(asked);
           },
       .check = [&](World& world,
                    const std::string& path) { expect_ids_told_truly(world, path, asked); }});
}

TEST_P(FailEveryStep, AStoreWorksAgainAsSoonAsItsDiskDoes) {
  const TempDir dir;
  std::vector<Asked> asked;
  const auto ask_once_more = [](Stage& stage, Store* store) {
    stage.repair();
    stage.cut();
    if (store == nullptr) return;
    const Result<Dedup> after = store->dedup({.scope = "s", .id = "after"});
    EXPECT_TRUE(after) << after.error().to_string();
  };
  fail_every_step(
      make_first_file(dir, "WAL"),
      {.run =
           [&](Stage& stage) {
             asked = ask_for_ids(stage.world, stage.path,
                                 [&](Store* store) { ask_once_more(stage, store); });
           },
       .check = [&](World& world,
                    const std::string& path) { expect_ids_told_truly(world, path, asked); }});
}

// Another connection of the same process, as an application has it beside its store.
class Company {
 public:
  enum class Kind : std::uint8_t { idle, reads };

  Company(const std::string& path, Kind kind) : db_(open_db(path)) {
    if (kind == Kind::reads) run(db_.get(), "BEGIN");
    EXPECT_EQ(number(db_.get(), "SELECT count(*) FROM hapax_schema"), 1);
  }
  void close() { db_.reset(); }

 private:
  Db db_;
};

class FailEveryStepBeside : public FailingSteps,
                            public testing::WithParamInterface<std::tuple<Shape, Company::Kind>> {
 protected:
  FailEveryStepBeside() : FailingSteps(std::get<0>(GetParam())) {}

  // Only what a failed sync of the database may have lost needs the file alone.
  void expect_recovers(Stage& stage, Store& store, Company& company, std::vector<Asked>& asked) {
    back_.start();
    asked.push_back(ask(stage.world, store, {"after"}));
    const bool may_need_it = shape_.fault.op == CrashVfs::Op::sync && stage.database_struck;
    if (asked.back().failed && may_need_it) {
      company.close();
      asked.push_back(ask(stage.world, store, {"alone"}));
    }
    back_.stop();
    EXPECT_FALSE(asked.back().failed);
  }

  Durations back_;
};

TEST_P(FailEveryStepBeside, AnotherConnectionAStoreRecoversAsSoonAsItsDiskDoes) {
  const TempDir dir;
  std::vector<Asked> asked;
  const auto play = [&](Stage& stage) {
    stage.world.busy_timeout = std::chrono::milliseconds(5);
    Company company(stage.path, std::get<1>(GetParam()));
    std::vector<Asked> after;
    asked = ask_for_ids(stage.world, stage.path, [&](Store* store) {
      stage.repair();
      if (store != nullptr) expect_recovers(stage, *store, company, after);
      stage.cut();
    });
    asked.insert(asked.end(), after.begin(), after.end());
  };
  fail_every_step(make_first_file(dir, "WAL"),
                  {.run = play, .check = [&](World& world, const std::string& path) {
                     expect_ids_told_truly(world, path, asked);
                   }});
  back_.print("the disk works again, until a claim was committed");
}

class FailEveryStepOfOnce : public FailEveryStep {
 protected:
  void run_with(const std::string& journal_mode, Way way) {
    const TempDir dir;
    std::vector<Job> jobs;
    const std::string set_up = "PRAGMA journal_mode=" + journal_mode;
    fail_every_step(
        make_first_file(dir, journal_mode),
        {.run =
             [&](Stage& stage) {
               jobs = run_jobs(stage.world, stage.path, way, set_up, stage.cut);
               expect_few_failures(jobs);
             },
         .check = [&](World& world,
                      const std::string& path) { expect_jobs_told_truly(world, path, jobs); }});
  }
};

TEST_P(FailEveryStepOfOnce, InATransactionOfHapaxWithALogTellsTheTruth) {
  run_with("WAL", Way::begin);
}

TEST_P(FailEveryStepOfOnce, InATransactionOfTheCallerWithALogTellsTheTruth) {
  run_with("WAL", Way::join);
}

TEST_P(FailEveryStepOfOnce, CommittedInSpiteOfItsErrorWithALogBurnsNothing) {
  run_with("WAL", Way::join_and_commit_anyway);
}

TEST_P(FailEveryStepOfOnce, InATransactionOfHapaxWithAJournalTellsTheTruth) {
  run_with("DELETE", Way::begin);
}

TEST_P(FailEveryStepOfOnce, InATransactionOfTheCallerWithAJournalTellsTheTruth) {
  run_with("TRUNCATE", Way::join);
}

TEST_P(FailEveryStepOfOnce, CommittedInSpiteOfItsErrorWithAJournalBurnsNothing) {
  run_with("PERSIST", Way::join_and_commit_anyway);
}

std::string name_of(const testing::TestParamInfo<Shape>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStep, testing::ValuesIn(kShapes), name_of);
INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStepBeside,
                         testing::Combine(testing::ValuesIn(kShapes),
                                          testing::Values(Company::Kind::idle,
                                                          Company::Kind::reads)),
                         [](const auto& each) {
                           const bool reads = std::get<1>(each.param) == Company::Kind::reads;
                           return std::string(std::get<0>(each.param).name) +
                                  (reads ? "BesideAReader" : "BesideAnIdleOne");
                         });
INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStepOfOnce, testing::ValuesIn(kShapes), name_of);

}  // namespace
}  // namespace hapax::test
