// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "support/world.hpp"

#include <hapax/store.hpp>

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
#include <string>
#include <vector>

// Processes that do the same thing at the same moment. The parent touches neither SQLite nor
// threads: a fork would copy them.
namespace hapax::test {
namespace {

constexpr std::size_t kRoundsMax = 1000;

// Lives in memory that all processes share.
struct Shared {
  pthread_barrier_t barrier;
  std::array<std::atomic<int>, kRoundsMax> winners;

  void meet() { pthread_barrier_wait(&barrier); }
};

class SharedMemory {
 public:
  explicit SharedMemory(unsigned processes) {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    shared_ = new (memory) Shared{};
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared_->barrier, &attributes, processes);
    pthread_barrierattr_destroy(&attributes);
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Shared& operator*() { return *shared_; }

 private:
  Shared* shared_;
};

[[noreturn]] void die(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  _exit(EXIT_FAILURE);
}

pid_t start(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  work();
  _exit(EXIT_SUCCESS);
}

// Runs `work` in that many processes at once. When one fails the others would wait for it at the
// barrier for ever, so they are ended.
void run_in_processes(unsigned processes, const std::function<void()>& work) {
  std::vector<pid_t> running;
  for (unsigned i = 0; i < processes; ++i) running.push_back(start(work));
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

void claim_every_round(Shared& shared, const std::string& url, int count) {
  Result<Store> store = open(url);
  if (!store) die(store.error());
  for (int round = 0; round < count; ++round) {
    const std::string id = "round " + std::to_string(round);
    shared.meet();
    const Result<Dedup> claimed = store->dedup({.scope = "race", .id = id});
    if (!claimed) die(claimed.error());
    if (!claimed->duplicate) ++shared.winners[static_cast<std::size_t>(round)];
  }
}

TEST(ProcessRace, OfEightProcessesWithOneIdExactlyOneWins) {
  constexpr unsigned kProcesses = 8;
  const TempDir dir;
  const std::string url = "sqlite:" + dir.file("store.db");
  const int count = rounds(static_cast<int>(kRoundsMax));
  SharedMemory memory(kProcesses);
  run_in_processes(kProcesses, [&] { claim_every_round(*memory, url, count); });
  for (int round = 0; round < count; ++round) {
    ASSERT_EQ((*memory).winners[static_cast<std::size_t>(round)], 1) << "round " << round;
  }
  RecordProperty("rounds", count);
}

void open_new_files(Shared& shared, const TempDir& dir, int count) {
  for (int round = 0; round < count; ++round) {
    const std::string file = "new-" + std::to_string(round) + ".db";
    shared.meet();
    Result<Store> store = open("sqlite:" + dir.file(file));
    if (!store) die(store.error());
    const Result<Dedup> claimed = store->dedup({.scope = "race", .id = "first"});
    if (!claimed) die(claimed.error());
    if (!claimed->duplicate) ++shared.winners[static_cast<std::size_t>(round)];
  }
}

TEST(ProcessRace, TwoProcessesOpenTheSameNewFileAndBothSucceed) {
  const TempDir dir;
  const int count = rounds(100);
  SharedMemory memory(2);
  run_in_processes(2, [&] { open_new_files(*memory, dir, count); });
  for (int round = 0; round < count; ++round) {
    ASSERT_EQ((*memory).winners[static_cast<std::size_t>(round)], 1) << "round " << round;
  }
  RecordProperty("rounds", count);
}

}  // namespace
}  // namespace hapax::test
