// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

// Processes that perform the same operation concurrently. The parent must not have started threads
// or opened a store, because neither survives a fork.
namespace hapax::test {

inline constexpr std::size_t kRaceRoundsMax = 1000;

// Lives in memory shared by all processes.
struct Race {
  pthread_barrier_t barrier;
  std::array<std::atomic<int>, kRaceRoundsMax> winners;

  void meet() { pthread_barrier_wait(&barrier); }
  void note_winner(int round) { ++winners[static_cast<std::size_t>(round)]; }
};

class SharedRace {
 public:
  // `parties`: the number of processes, or of threads in them, that meet at the barrier.
  explicit SharedRace(unsigned parties) {
    void* memory =
        mmap(nullptr, sizeof(Race), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    race_ = new (memory) Race{};
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&race_->barrier, &attributes, parties);
    pthread_barrierattr_destroy(&attributes);
  }
  ~SharedRace() { munmap(race_, sizeof(Race)); }
  SharedRace(const SharedRace&) = delete;
  SharedRace& operator=(const SharedRace&) = delete;

  Race& operator*() { return *race_; }

  void expect_one_winner_each(int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      ASSERT_EQ(race_->winners[static_cast<std::size_t>(round)], 1) << "round " << round;
    }
  }

 private:
  Race* race_;
};

// Ends a child process with an error; run_in_processes() reports it.
[[noreturn]] inline void die(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  _exit(EXIT_FAILURE);
}

inline pid_t start(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  work();
  _exit(EXIT_SUCCESS);
}

// Runs each function in its own process, all at once. If one process fails, the others are killed:
// they would wait for it at the barrier forever.
inline void run_in_processes(const std::vector<std::function<void()>>& works) {
  std::vector<pid_t> running;
  for (const auto& work : works) running.push_back(start(work));
  while (!running.empty()) {
    int status = 0;
    const pid_t ended = wait(&status);
    ASSERT_GT(ended, 0);
    std::erase(running, ended);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) continue;
    ADD_FAILURE() << "a process ended with status " << status;
    for (const pid_t each : running) kill(each, SIGKILL);
  }
}

}  // namespace hapax::test
