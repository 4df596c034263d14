// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "crash/caller_db.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <string>

// A worker is killed with SIGKILL again and again, wherever it happens to be, and started again
// with jobs that it has done already among those it has not. (This says nothing about syncs,
// because the system's cache survives a process; the power cuts do.)
namespace hapax::test {
namespace {

constexpr std::int64_t kJobsMax = 1'000'000;  // more than a worker does before it is killed

// A running worker and the pipe on which it announces what it has committed.
class Worker {
 public:
  Worker(const std::string& path, const std::string& journal_mode, std::int64_t first) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::string arguments[] = {KILL9_WORKER, path, journal_mode, std::to_string(first),
                               std::to_string(first + kJobsMax)};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                    arguments[3].data(), arguments[4].data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Worker() {
    if (pid_ > 0) kill_it();
    close(pipe_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The next job that it has committed, or -1 when it has ended.
  std::int64_t next() {
    std::int64_t job = -1;
    return read(pipe_, &job, sizeof job) == sizeof job ? job : -1;
  }

  // Whether it was alive to be killed: it ends by itself only on an error.
  bool kill_it() {
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

// Waits a moment that is too short to name, so that the kill lands anywhere in a transaction.
void spin(std::uint64_t turns) {
  std::atomic<std::uint64_t> turn = 0;
  while (turn < turns) ++turn;
}

// Lets a worker commit a few jobs from `first` on and kills it. The last job that it announced,
// also after the kill was sent, or `before` when it announced none.
std::int64_t run_and_kill(const std::string& path, const std::string& journal_mode,
                          std::int64_t first, std::int64_t before, SeededRandom& chance) {
  Worker worker(path, journal_mode, first);
  std::int64_t last = before;
  const auto note = [&](std::int64_t job) { last = std::max(last, job); };
  for (std::uint64_t left = chance.below(20); left > 0; --left) note(worker.next());
  spin(chance.below(400'000));
  EXPECT_TRUE(worker.kill_it()) << "the worker ended before it was killed";
  for (std::int64_t job = worker.next(); job >= 0; job = worker.next()) note(job);
  return last;
}

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
  // Each job's message has a key, and so a claim of its own.
  EXPECT_EQ(number(db, "SELECT count(*) FROM hapax_claim"), 2 * rows);
}

void kill_again_and_again(const std::string& journal_mode, std::uint64_t seed) {
  const TempDir dir;
  const std::string path = dir.file("app.db");
  SeededRandom chance(seed);
  std::int64_t last = -1;
  const int kills = rounds(1000);
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    const std::int64_t overlap = static_cast<std::int64_t>(chance.below(8));
    const std::int64_t first = std::max<std::int64_t>(0, last + 1 - overlap);
    last = run_and_kill(path, journal_mode, first, last, chance);
  }
  testing::Test::RecordProperty("kills", kills);
  testing::Test::RecordProperty("jobs", static_cast<int>(last + 1));
  EXPECT_GT(last, 0);
  const Db db = open_db(path);
  expect_all_once(db.get(), last);
  expect_nothing_more(db.get());
}

TEST(Kill9, DoublesAndLosesNoJobOfACallerWithALog) {
  kill_again_and_again("WAL", 1);
}

TEST(Kill9, DoublesAndLosesNoJobOfACallerWithAJournal) {
  kill_again_and_again("DELETE", 2);
}

}  // namespace
}  // namespace hapax::test
