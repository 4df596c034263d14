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

// The N-th write, sync, truncation or removal fails, for every N until a run does not reach it.
// Every answer must be true of the file as it is, and of the file as a power cut before the close
// would have left it.
namespace hapax::test {
namespace {

constexpr std::int64_t kFailedStepsMax = 2000;  // a longer run is a failure

// The environment of one run: the file, a power cut to trigger, and the end of the fault.
struct Stage {
  World& world;
  std::string path;
  std::function<void()> cut;
  std::function<void()> repair;
  bool database_struck = false;  // known after repair()
};

// A program, and the check of its answers against a file that it may have left.
struct Play {
  std::function<void(Stage&)> run;
  std::function<void(World&, const std::string& path)> check;
};

class FailingSteps : public testing::Test {
 public:
  explicit FailingSteps(const Shape& shape) : shape_(shape) {}

 protected:
  // `first_file`, unless empty, is copied for every run.
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

  // A single failure must not make the next call fail too.
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
    const CrashVfs no_faults;  // without real syncs the check is faster
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

TEST_P(FailEveryStep, AFileCanBeOpenedAfterAFailedFirstOpen) {
  fail_every_step("", {.run =
                           [](Stage& stage) {
                             const Result<Store> store =
                                 open("sqlite:" + stage.path, stage.world.options());
                             stage.cut();
                           },
                       .check = expect_store_complete});
}

TEST_P(FailEveryStep, ACallersFileCanBeMigratedAfterAFailedMigration) {
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

TEST_P(FailEveryStep, TheOutcomeOfEveryIdIsExact) {
  const TempDir dir;
  std::vector<ClaimCall> calls;
  fail_every_step(
      make_first_file(dir, "WAL"),
      {.run =
           [&](Stage& stage) {
             calls = run_claims(stage.world, stage.path, [&](Store*) { stage.cut(); });
             expect_few_failures(calls);
           },
       .check = [&](World& world,
                    const std::string& path) { expect_claims_exact(world, path, calls); }});
}

TEST_P(FailEveryStep, AStoreRecoversAsSoonAsItsDiskDoes) {
  const TempDir dir;
  std::vector<ClaimCall> calls;
  const auto claim_after_repair = [](Stage& stage, Store* store) {
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
             calls = run_claims(stage.world, stage.path,
                                [&](Store* store) { claim_after_repair(stage, store); });
           },
       .check = [&](World& world,
                    const std::string& path) { expect_claims_exact(world, path, calls); }});
}

// Another connection of the same process, as in an application that also uses the store's file.
class OtherConnection {
 public:
  enum class Kind : std::uint8_t { idle, reads };

  OtherConnection(const std::string& path, Kind kind) : db_(open_db(path)) {
    if (kind == Kind::reads) run(db_.get(), "BEGIN");
    EXPECT_EQ(number(db_.get(), "SELECT count(*) FROM hapax_schema"), 1);
  }
  void close() { db_.reset(); }

 private:
  Db db_;
};

class FailEveryStepBeside
    : public FailingSteps,
      public testing::WithParamInterface<std::tuple<Shape, OtherConnection::Kind>> {
 protected:
  FailEveryStepBeside() : FailingSteps(std::get<0>(GetParam())) {}

  // Only a failed sync of the database may require that all other connections close.
  void expect_recovers(Stage& stage, Store& store, OtherConnection& other,
                       std::vector<ClaimCall>& calls) {
    recovery_time_.start();
    calls.push_back(claim_new(stage.world, store, {"after"}));
    const bool may_need_it = shape_.fault.op == CrashVfs::Op::sync && stage.database_struck;
    if (calls.back().failed && may_need_it) {
      other.close();
      calls.push_back(claim_new(stage.world, store, {"alone"}));
    }
    recovery_time_.stop();
    EXPECT_FALSE(calls.back().failed);
  }

  Durations recovery_time_;
};

TEST_P(FailEveryStepBeside, AnotherConnectionTheStoreRecoversAsSoonAsItsDiskDoes) {
  const TempDir dir;
  std::vector<ClaimCall> calls;
  const auto play = [&](Stage& stage) {
    stage.world.busy_timeout = std::chrono::milliseconds(5);
    OtherConnection other(stage.path, std::get<1>(GetParam()));
    std::vector<ClaimCall> after;
    calls = run_claims(stage.world, stage.path, [&](Store* store) {
      stage.repair();
      if (store != nullptr) expect_recovers(stage, *store, other, after);
      stage.cut();
    });
    calls.insert(calls.end(), after.begin(), after.end());
  };
  fail_every_step(make_first_file(dir, "WAL"),
                  {.run = play, .check = [&](World& world, const std::string& path) {
                     expect_claims_exact(world, path, calls);
                   }});
  recovery_time_.print("the disk works again, until a claim was committed");
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
                      const std::string& path) { expect_jobs_exact(world, path, jobs); }});
  }
};

TEST_P(FailEveryStepOfOnce, OutcomesAreExactInATransactionOfHapaxWithAWal) {
  run_with("WAL", Way::begin);
}

TEST_P(FailEveryStepOfOnce, OutcomesAreExactInATransactionOfTheCallerWithAWal) {
  run_with("WAL", Way::join);
}

TEST_P(FailEveryStepOfOnce, ACommitDespiteAnErrorWithAWalBurnsNoId) {
  run_with("WAL", Way::join_and_commit_anyway);
}

TEST_P(FailEveryStepOfOnce, OutcomesAreExactInATransactionOfHapaxWithAJournal) {
  run_with("DELETE", Way::begin);
}

TEST_P(FailEveryStepOfOnce, OutcomesAreExactInATransactionOfTheCallerWithAJournal) {
  run_with("TRUNCATE", Way::join);
}

TEST_P(FailEveryStepOfOnce, ACommitDespiteAnErrorWithAJournalBurnsNoId) {
  run_with("PERSIST", Way::join_and_commit_anyway);
}

std::string name_of(const testing::TestParamInfo<Shape>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStep, testing::ValuesIn(kShapes), name_of);
INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStepBeside,
                         testing::Combine(testing::ValuesIn(kShapes),
                                          testing::Values(OtherConnection::Kind::idle,
                                                          OtherConnection::Kind::reads)),
                         [](const auto& each) {
                           const bool reads =
                               std::get<1>(each.param) == OtherConnection::Kind::reads;
                           return std::string(std::get<0>(each.param).name) +
                                  (reads ? "BesideAReader" : "BesideAnIdleOne");
                         });
INSTANTIATE_TEST_SUITE_P(Disk, FailEveryStepOfOnce, testing::ValuesIn(kShapes), name_of);

}  // namespace
}  // namespace hapax::test
