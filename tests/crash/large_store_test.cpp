// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/acknowledged.hpp"
#include "crash/crash_vfs.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// Faults in a store with more pages than its cache and its log may hold: during a checkpoint, on
// the checkpointer's thread and on the writer's, and in the middle of a transaction.
namespace hapax::test {
namespace {

// Long random ids, which make the log exceed its page limit quickly.
std::vector<std::string> long_ids(SeededRandom& chance, std::size_t count) {
  std::vector<std::string> ids(count);
  for (std::string& id : ids) {
    id.resize(190);
    chance.fill({reinterpret_cast<unsigned char*>(id.data()), id.size()});
  }
  return ids;
}

void write_a_lot(Store& store, World& world, const std::string& path, Acknowledged& acknowledged) {
  constexpr int kBatches = 9;
  constexpr std::size_t kBatch = 4000;
  SeededRandom chance(world.random.next());
  for (int i = 0; i < kBatches; ++i) {
    claim(store, long_ids(chance, kBatch), acknowledged);
    claim(store, {"after batch " + std::to_string(i)}, acknowledged);
    do_jobs(world, path, {kJobNames[static_cast<std::size_t>(i) % kJobNames.size()]}, acknowledged);
  }
}

void run_large(World& world, const std::string& path, Acknowledged& acknowledged) {
  Result<Store> store = open("sqlite:" + path, world.options());
  if (store) write_a_lot(*store, world, path, acknowledged);
}

TEST(PowerCut, LosesNothingDuringACheckpoint) {
  std::int64_t operations = 0;  // of a complete run; varies a little with thread timing
  {
    const TempDir dir;
    World world;
    Acknowledged acknowledged;
    const CrashVfs vfs;
    run_large(world, dir.file("app.db"), acknowledged);
    operations = vfs.operations();
  }
  const auto part = static_cast<std::uint64_t>(operations / 3);  // mostly before a checkpoint
  SeededRandom chance(11);
  const int cuts = rounds(60);
  for (int i = 0; i < cuts && !HasFailure(); ++i) {
    crash_once(static_cast<std::int64_t>(part + chance.below(2 * part)), 1, run_large);
  }
  RecordProperty("cuts", cuts);
}

// A store whose log is long enough for a checkpoint, with the checkpointer held at the gate.
class HeldCheckpoint : public testing::Test {
 protected:
  HeldCheckpoint() {
    world_.busy_timeout = std::chrono::milliseconds(50);
    store_ = open("sqlite:" + path_, world_.options());
    EXPECT_TRUE(store_);
    vfs_.gate().close();
    constexpr int kBatchesMax = 20;
    SeededRandom chance(5);
    for (int i = 0; i < kBatchesMax && !is_log_long(); ++i) {
      claim(*store_, long_ids(chance, 4000), acknowledged_);
    }
    EXPECT_TRUE(vfs_.gate().wait_for_waiter());
  }
  ~HeldCheckpoint() override { vfs_.gate().open(); }

  bool is_log_long() const {
    constexpr std::uintmax_t kLong = 140'000'000;
    return std::filesystem::file_size(path_ + "-wal") > kLong;
  }
  void commit() { claim(*store_, {"small " + std::to_string(++commits_)}, acknowledged_); }
  // Lets the held checkpoint finish after a commit that it does not include, and stops its thread
  // before the following sync.
  void overtake() {
    commit();
    EXPECT_TRUE(vfs_.gate().open_for_one_checkpoint());
    EXPECT_TRUE(vfs_.gate().wait_for_waiter());
  }
  // Commits until the condition holds: only a commit detects the checkpointer's progress and starts
  // its next pass.
  [[nodiscard]] bool commit_until(const std::function<bool()>& condition) {
    return eventually([&] {
      commit();
      return condition();
    });
  }

  TempDir dir_;
  std::string path_ = dir_.file("app.db");
  World world_;
  Acknowledged acknowledged_;
  CrashVfs vfs_;
  Result<Store> store_ = Error(Code::handle_closed, "not open yet");
  int commits_ = 0;
};

TEST_F(HeldCheckpoint, OvertakenEveryTimeStillLetsTheLogRestart) {
  const std::int64_t starts = vfs_.log_starts();
  EXPECT_TRUE(commit_until([&] {
    if (vfs_.gate().has_waiter()) {
      overtake();
      vfs_.gate().release_waiters();
    }
    return vfs_.log_starts() > starts;
  })) << "the log never restarts";
}

TEST_F(HeldCheckpoint, ThatThenFailsToSyncLosesNothing) {
  overtake();
  vfs_.fail({.op = CrashVfs::Op::sync,
             .where = CrashVfs::Where::database,
             .left = CrashVfs::Left::forgotten});
  vfs_.gate().open();
  ASSERT_TRUE(commit_until([&] { return vfs_.reached(); }));
  ASSERT_TRUE(commit_until([&] { return vfs_.log_starts() > 0; }));
  vfs_.materialize(dir_.path() / "after", Fate::drop_all, 0);
  expect_acknowledged(world_, (dir_.path() / "after" / "app.db").string(), acknowledged_);
}

// The unsynced pages exist only in the log.
TEST_F(HeldCheckpoint, ThatThenFailsToSyncLosesNothingWhenTheStoreCloses) {
  overtake();
  vfs_.fail({.op = CrashVfs::Op::sync,
             .where = CrashVfs::Where::database,
             .left = CrashVfs::Left::forgotten});
  vfs_.gate().open();
  store_ = Error(Code::handle_closed, "closed");  // stops the thread first
  EXPECT_TRUE(vfs_.reached());
  vfs_.materialize(dir_.path() / "after", Fate::drop_all, 0);
  expect_acknowledged(world_, (dir_.path() / "after" / "app.db").string(), acknowledged_);
}

// Another connection prevents a new checkpoint of those pages. The last connection to close must
// not remove the log.
TEST_F(HeldCheckpoint, ThatThenFailsToSyncWaitsForOtherConnectionsToClose) {
  Db idle = open_db(path_);
  EXPECT_EQ(number(idle.get(), "SELECT count(*) FROM hapax_schema"), 1);
  overtake();
  vfs_.fail({.op = CrashVfs::Op::sync,
             .where = CrashVfs::Where::database,
             .left = CrashVfs::Left::forgotten});
  vfs_.gate().open();
  const auto refused = [&] {
    const Result<Dedup> answer = store_->dedup({.scope = "s", .id = std::to_string(++commits_)});
    return !answer && answer.error().detail().find("close all other") != std::string::npos;
  };
  EXPECT_TRUE(eventually(refused));
  EXPECT_TRUE(refused());
  idle.reset();
  EXPECT_FALSE(refused());
  vfs_.materialize(dir_.path() / "after", Fate::drop_all, 0);
  expect_acknowledged(world_, (dir_.path() / "after" / "app.db").string(), acknowledged_);
}

// Runs a batch that exceeds the cache, so that SQLite writes to the log before the commit, on a
// copy of `first_file`; the nth write fails. Returns nullopt if there was no nth write.
std::optional<ClaimCall> fail_batch(const std::string& first_file, const CrashVfs::Fault& fault) {
  const TempDir dir;
  const std::string path = dir.file("app.db");
  std::filesystem::copy_file(first_file, path);
  World world;
  SeededRandom chance(13);
  CrashVfs vfs;
  std::vector<ClaimCall> calls;
  {
    Result<Store> store = open("sqlite:" + path, world.options());
    EXPECT_TRUE(store);
    vfs.fail(fault);
    calls.push_back(claim_new(world, *store, long_ids(chance, 4000)));
    if (!vfs.reached()) return std::nullopt;
    calls.push_back(claim_new(world, *store, {"after the failure"}));
    EXPECT_FALSE(calls.back().failed);
  }
  vfs.disarm();
  expect_claims_exact(world, path, calls);
  return calls.front();
}

TEST(LargeBatch, AWriteFailureBeforeTheCommitIsReportedExactly) {
  const TempDir dir;
  World world;
  Acknowledged acknowledged;
  const std::string first_file = dir.file("first.db");
  run_large(world, first_file, acknowledged);
  run_large(world, first_file, acknowledged);
  SeededRandom chance(17);
  int before_commit = 0;
  const int times = rounds(40);
  for (int i = 0; i < times && !HasFailure(); ++i) {
    CrashVfs::Fault fault{.op = CrashVfs::Op::write, .disk_full = i % 2 == 1};
    fault.nth = 1 + static_cast<std::int64_t>(chance.below(1000));
    const std::optional<ClaimCall> call = fail_batch(first_file, fault);
    before_commit += call && call->failed == Outcome::did_not_happen ? 1 : 0;
  }
  EXPECT_GT(before_commit, 0) << "no fault occurred before the commit: the batch fits the cache";
  RecordProperty("before_commit", before_commit);
}

}  // namespace
}  // namespace hapax::test
