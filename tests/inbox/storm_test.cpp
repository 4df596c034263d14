// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// Many workers on one store, in threads and processes, some of them killed. The parent process has
// no threads and no open store when it forks.
#include "inbox/many.hpp"
#include "support/eventually.hpp"
#include "support/race.hpp"

#include <charconv>
#include <chrono>
#include <thread>

namespace hapax::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxDeliveries = 50'000;

// The results of the workers, in shared memory.
struct Tally {
  std::array<std::atomic<int>, kMaxDeliveries> acked;
  std::atomic<int> done;  // the sum of acked
  std::atomic<int> stale;
};

class SharedTally {
 public:
  SharedTally() {
    void* memory =
        mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    tally_ = new (memory) Tally{};
  }
  ~SharedTally() { munmap(tally_, sizeof(Tally)); }
  SharedTally(const SharedTally&) = delete;
  SharedTally& operator=(const SharedTally&) = delete;
  Tally& operator*() { return *tally_; }

 private:
  Tally* tally_;
};

std::size_t number_in(std::string_view id) {
  std::size_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  return number;
}

// Leases and settles until no deliveries remain.
void work(const std::string& url, Tally& tally, std::int64_t owner, unsigned threads) {
  const auto opened = open_inbox(url);
  const store::Driver& driver = opened->driver;
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&driver, &tally, owner, i] {
      // Short leases: the deliveries of a killed worker become due soon.
      while (unfinished(driver) > 0) {
        for (const store::Leased& leased : lease(driver, 16, 2s, owner * 100 + i).deliveries) {
          const bool ok = settle(driver, leased, Ack{}) == store::Settled::ok;
          ++(ok ? tally.acked[number_in(leased.event.id)] : tally.stale);
          if (ok) ++tally.done;
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
}

template <class Place>
class Storm : public testing::Test {
 protected:
  void fill(int count) {
    std::vector<Wanted> events;
    for (int i = 0; i < count; ++i) events.push_back({std::to_string(i), ""});
    admit_all(open_inbox(place_.url())->driver, events);
  }

  Place place_;
  SharedTally tally_;
};
TYPED_TEST_SUITE(Storm, InboxStores, InboxStoreNames);

TYPED_TEST(Storm, SixteenThreadsInFourProcessesAckEachDeliveryOnce) {
  const int count = rounds(50'000);
  this->fill(count);
  const std::string url = this->place_.url();
  Tally& tally = *this->tally_;
  std::vector<std::function<void()>> works;
  for (int process = 1; process <= 4; ++process) {
    works.emplace_back([&url, &tally, process] { work(url, tally, process, 4); });
  }
  run_in_processes(works);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(tally.acked[static_cast<std::size_t>(i)], 1) << "delivery " << i;
  }
  EXPECT_EQ(unfinished(open_inbox(url)->driver), 0U);
  std::printf("%d deliveries, each acked once; %d settlements stale\n", count, tally.stale.load());
}

// Kills the worker and returns whether it was still running.
bool kill_worker(pid_t worker) {
  kill(worker, SIGKILL);
  int status = 0;
  waitpid(worker, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

// A worker is killed after each further part of the work, so that every kill interrupts the work at
// any speed. The last quarter runs without kills: the tally misses deliveries that a killed worker
// acknowledged and had not counted.
TYPED_TEST(Storm, KilledWorkersLoseAndDuplicateNothing) {
  const int count = rounds(20'000);
  const int kills = rounds(200);
  this->fill(count);
  const std::string url = this->place_.url();
  Tally& tally = *this->tally_;
  SeededRandom chance(7);
  int owner = 0;
  const auto worker = [&] {
    ++owner;
    return start([&url, &tally, owner] { work(url, tally, owner, 4); });
  };
  std::vector<pid_t> running = {worker(), worker(), worker()};
  for (int killed = 0; killed < kills && !this->HasFailure(); ++killed) {
    const int part = count * 3 / 4 * killed / kills;
    EXPECT_TRUE(eventually([&] { return tally.done > part; }, 5min)) << "the workers hang";
    pid_t& victim = running[chance.below(running.size())];
    EXPECT_TRUE(kill_worker(victim)) << "the worker ended before it was killed";
    victim = worker();
  }
  for (const pid_t each : running) {
    if (this->HasFailure()) kill(each, SIGKILL);
    int status = 0;
    waitpid(each, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) << status;
  }
  int once = 0;
  for (int i = 0; i < count; ++i) {
    // A worker killed between the commit and the count has acknowledged without counting.
    const int acked = tally.acked[static_cast<std::size_t>(i)];
    ASSERT_LE(acked, 1) << "delivery " << i;
    once += acked;
  }
  EXPECT_EQ(unfinished(open_inbox(url)->driver), 0U);
  std::printf("%d deliveries, %d counted as acked, %d workers killed, %d settlements stale\n",
              count, once, kills, tally.stale.load());
}

}  // namespace
}  // namespace hapax::test
