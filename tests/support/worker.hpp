// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/world.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

// A process that runs numbered jobs one after the other until it is killed.
namespace hapax::test {

// A running worker, and the pipe on which it reports each committed job: its number, in eight
// bytes.
class Worker {
 public:
  explicit Worker(std::vector<std::string> words) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
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

  // The next job that the worker has committed, or -1 after its exit.
  std::int64_t next() {
    std::int64_t job = -1;
    return read(pipe_, &job, sizeof job) == sizeof job ? job : -1;
  }

  // Returns whether the worker was still running: it exits by itself only on an error.
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

// Busy-waits for a very short time, so that the kill can hit any point of a transaction.
inline void spin(std::uint64_t turns) {
  std::atomic<std::uint64_t> turn = 0;
  while (turn < turns) ++turn;
}

// Lets a worker commit a few jobs and kills it. Returns the last job that the worker reported, also
// after the kill was sent, or `before` if it reported none.
inline std::int64_t run_and_kill(std::vector<std::string> words, std::int64_t before,
                                 SeededRandom& chance) {
  Worker worker(std::move(words));
  std::int64_t last = before;
  const auto note = [&](std::int64_t job) { last = std::max(last, job); };
  for (std::uint64_t left = chance.below(20); left > 0; --left) note(worker.next());
  spin(chance.below(400'000));
  EXPECT_TRUE(worker.kill_it()) << "the worker ended before it was killed";
  for (std::int64_t job = worker.next(); job >= 0; job = worker.next()) note(job);
  return last;
}

}  // namespace hapax::test
