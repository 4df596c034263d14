// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/jobs.hpp"
#include "support/postgres.hpp"
#include "support/worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// A worker on PostgreSQL is repeatedly killed with SIGKILL at random points and restarted with jobs
// of which some are already done.
namespace hapax::test {
namespace {

constexpr std::int64_t kJobsMax = 1'000'000;  // more than a worker does before it is killed

// The backend of a killed worker finishes its current statement.
void wait_for_leftovers(PGconn* connection) {
  wait_until(connection, "count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()");
}

void expect_all_once(PGconn* connection, std::int64_t last) {
  wait_for_leftovers(connection);
  for (std::int64_t job = 0; job <= last; ++job) {
    ASSERT_EQ(traces_of(connection, "job-" + std::to_string(job)), kAll) << "job " << job;
  }
  expect_all_agree(connection);
}

TEST(Kill9Postgres, EveryJobOfACallerIsDoneOnce) {
  const PostgresDatabase database;
  const PgHandle connection = database.connect();
  ASSERT_TRUE(make_caller_tables(connection.get()));
  ASSERT_TRUE(migrate(database.url()));
  SeededRandom chance(3);
  std::int64_t last = -1;
  const int kills = rounds(100);
  for (int i = 0; i < kills && !HasFailure(); ++i) {
    const auto overlap = static_cast<std::int64_t>(chance.below(8));
    const std::int64_t first = std::max<std::int64_t>(0, last + 1 - overlap);
    last = run_and_kill(
        {KILL9_PG_WORKER, database.url(), std::to_string(first), std::to_string(first + kJobsMax)},
        last, chance);
  }
  RecordProperty("kills", kills);
  RecordProperty("jobs", static_cast<int>(last + 1));
  EXPECT_GT(last, 0);
  expect_all_once(connection.get(), last);
}

}  // namespace
}  // namespace hapax::test
