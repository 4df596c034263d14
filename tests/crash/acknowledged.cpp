// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/acknowledged.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace hapax::test {

const std::vector<std::string> kJobNames = {"job-1", "job-2", "job-3", "job-4"};

namespace {

void expect_jobs(World& world, const std::string& path, const Acknowledged& acknowledged) {
  const Db db = open_db(path);
  ASSERT_TRUE(db);
  ASSERT_EQ(make_caller_tables(db.get()), SQLITE_OK) << sqlite3_errmsg(db.get());
  ASSERT_TRUE(SqliteSession::attach(db.get(), world.session_options()));
  EXPECT_EQ(integrity(db.get()), "ok");
  EXPECT_TRUE(counter_agrees(db.get()));
  for (const std::string& name : kJobNames) {
    const Traces found = traces_of(db.get(), name);
    EXPECT_TRUE(found == kAll || found == kNothing) << name << ": " << found;
  }
  for (const std::string& name : acknowledged.jobs)
    EXPECT_EQ(traces_of(db.get(), name), kAll) << name;
}

void expect_ids(World& world, const std::string& path, const Acknowledged& acknowledged) {
  Result<Store> store = open("sqlite:" + path, world.options());
  ASSERT_TRUE(store) << store.error().to_string();
  std::vector<DedupRequest> requests;
  for (const std::string& id : acknowledged.ids) requests.push_back({.scope = kIds, .id = id});
  requests.push_back({.scope = kIds, .id = "never claimed before"});
  const Result<std::vector<Dedup>> answers = store->dedup(requests);
  ASSERT_TRUE(answers) << answers.error().to_string();
  for (std::size_t i = 0; i < acknowledged.ids.size(); ++i) {
    ASSERT_TRUE((*answers)[i].duplicate) << "acknowledged claim " << i << " is lost";
  }
  EXPECT_FALSE(answers->back().duplicate);
}

// Fates with their seeds: both deterministic ones, and `torn` random ones.
std::vector<std::pair<Fate, std::uint64_t>> fates(int torn, std::uint64_t seed) {
  std::vector<std::pair<Fate, std::uint64_t>> all = {{Fate::keep_all, 0}, {Fate::drop_all, 0}};
  for (int i = 0; i < torn; ++i) all.emplace_back(Fate::tear, seed + static_cast<unsigned>(i));
  return all;
}

}  // namespace

void claim(Store& store, const std::vector<std::string>& ids, Acknowledged& acknowledged) {
  std::vector<DedupRequest> requests;
  requests.reserve(ids.size());
  for (const std::string& id : ids) requests.push_back({.scope = kIds, .id = id});
  if (!store.dedup(requests)) return;
  acknowledged.ids.insert(acknowledged.ids.end(), ids.begin(), ids.end());
}

void do_jobs(World& world, const std::string& path, const std::vector<std::string>& names,
             Acknowledged& acknowledged) {
  const Db db = open_db(path);
  // Checkpoints are left to the store, if there is one.
  if (!db || run(db.get(), "PRAGMA wal_autocheckpoint=0") != SQLITE_OK) return;
  if (make_caller_tables(db.get()) != SQLITE_OK) return;
  Result<SqliteSession> session = SqliteSession::attach(db.get(), world.session_options());
  if (!session) return;
  for (const std::string& name : names) {
    Result<SqliteTransaction> tx = session->begin();
    if (tx && do_job(*tx, name) && tx->commit()) acknowledged.jobs.push_back(name);
  }
}

void expect_acknowledged(World& world, const std::string& path, const Acknowledged& acknowledged) {
  expect_jobs(world, path, acknowledged);
  expect_ids(world, path, acknowledged);
}

bool crash_once(std::int64_t nth, int torn, const Program& program) {
  const TempDir dir;
  World world;
  Acknowledged acknowledged;
  const auto all = fates(torn, static_cast<std::uint64_t>(nth) * 1000);
  bool reached = false;
  {
    CrashVfs vfs;
    vfs.crash_at(nth);
    program(world, dir.file("app.db"), acknowledged);
    reached = vfs.reached();
    for (std::size_t i = 0; i < all.size(); ++i) {
      vfs.materialize(dir.path() / std::to_string(i), all[i].first, all[i].second);
    }
  }
  for (std::size_t i = 0; i < all.size() && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("power cut at operation " + std::to_string(nth) + ", fate " + std::to_string(i));
    expect_acknowledged(world, (dir.path() / std::to_string(i) / "app.db").string(), acknowledged);
  }
  return reached;
}

}  // namespace hapax::test
