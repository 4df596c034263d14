// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/caller_db.hpp"
#include "support/worker.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// A worker is repeatedly killed with SIGKILL at random points and restarted with jobs of which some
// are already done. (This does not test syncs, because the system's cache survives a process; the
// power cut tests do.)
namespace hapax::test {
namespace {

constexpr std::int64_t kJobsMax = 1'000'000;  // more than a worker does before it is killed

void expect_all_once(sqlite3* db, std::int64_t last) {
  EXPECT_EQ(integrity(db), "ok");
  for (std::int64_t job = 0; job <= last; ++job) {
    ASSERT_EQ(traces_of(db, "job-" + std::to_string(job)), kAll) << "job " << job;
  }
}

void expect_nothing_more(sqlite3* db) {
  const std::int64_t rows = number(db, "SELECT count(*) FROM work");
  EXPECT_TRUE(counter_agrees(db));
  EXPECT_EQ(number(db, "SELECT count(DISTINCT id) FROM work"), rows);
  EXPECT_EQ(number(db, "SELECT count(*) FROM hapax_message"), rows);
  // Each job's message has a key and therefore its own claim.
  EXPECT_EQ(number(db, "SELECT count(*) FROM hapax_claim"), 2 * rows);
}

void kill_repeatedly(const std::string& journal_mode, std::uint64_t seed) {
  const TempDir dir;
  const std::string path = dir.file("app.db");
  SeededRandom chance(seed);
  std::int64_t last = -1;
  const int kills = rounds(1000);
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    const std::int64_t overlap = static_cast<std::int64_t>(chance.below(8));
    const std::int64_t first = std::max<std::int64_t>(0, last + 1 - overlap);
    last = run_and_kill(
        {KILL9_WORKER, path, journal_mode, std::to_string(first), std::to_string(first + kJobsMax)},
        last, chance);
  }
  testing::Test::RecordProperty("kills", kills);
  testing::Test::RecordProperty("jobs", static_cast<int>(last + 1));
  EXPECT_GT(last, 0);
  const Db db = open_db(path);
  expect_all_once(db.get(), last);
  expect_nothing_more(db.get());
}

TEST(Kill9, EveryJobOfACallerWithAWalIsDoneOnce) {
  kill_repeatedly("WAL", 1);
}

TEST(Kill9, EveryJobOfACallerWithAJournalIsDoneOnce) {
  kill_repeatedly("DELETE", 2);
}

}  // namespace
}  // namespace hapax::test
