// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A worker that is stopped (SIGSTOP) past its lease and then continues.
#include "inbox/many.hpp"
#include "support/eventually.hpp"
#include "support/race.hpp"

#include <utility>

namespace hapax::test {
namespace {

using namespace std::chrono_literals;

// A child process that leases the only delivery, reports it, stops, and settles the delivery when
// resumed. Its exit code is the answer to the settlement.
class StoppedWorker {
 public:
  explicit StoppedWorker(const std::string& url) {
    EXPECT_EQ(pipe(ends_), 0);
    pid_ = fork();
    if (pid_ == 0) lease_stop_and_settle(url);
    char leased = 0;
    EXPECT_EQ(read(ends_[0], &leased, 1), 1);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  ~StoppedWorker() {
    if (pid_ > 0) {  // the test failed and left the child stopped
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(ends_[0]);
    close(ends_[1]);
  }
  StoppedWorker(const StoppedWorker&) = delete;
  StoppedWorker& operator=(const StoppedWorker&) = delete;

  store::Settled resume() {
    kill(pid_, SIGCONT);
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    return static_cast<store::Settled>(WEXITSTATUS(status));
  }

 private:
  [[noreturn]] void lease_stop_and_settle(const std::string& url) const {
    const auto opened = open_inbox(url);
    const store::Lease got = lease(opened->driver, 1, 200ms, 1);
    if (got.deliveries.size() != 1 || write(ends_[1], "x", 1) != 1) _exit(99);
    raise(SIGSTOP);
    _exit(static_cast<int>(settle(opened->driver, got.deliveries.front(), Ack{})));
  }

  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
};

bool no_lease_is_live(const std::string& url) {
  const auto opened = open_inbox(url);
  const Result<store::Stats> stats = opened->driver.catalog->stats();
  EXPECT_TRUE(stats) << stats.error().to_string();
  return stats && stats->destinations.size() == 1 && stats->destinations.front().leased == 0;
}

template <class Place>
class AStoppedWorker : public testing::Test {
 protected:
  AStoppedWorker() { admit_all(open_inbox(place_.url())->driver, {{"1", ""}}); }

  Place place_;
};
TYPED_TEST_SUITE(AStoppedWorker, InboxStores, InboxStoreNames);

TYPED_TEST(AStoppedWorker, SettlesStaleWhenAnotherHasLeasedIt) {
  const std::string url = this->place_.url();
  StoppedWorker worker(url);
  {
    const auto opened = open_inbox(url);
    store::Lease other;
    ASSERT_TRUE(eventually([&] {  // the lease of the stopped worker expires
      other = lease(opened->driver, 1, 1h, 2);
      return !other.deliveries.empty();
    }));
    EXPECT_EQ(worker.resume(), store::Settled::stale);
    EXPECT_EQ(settle(opened->driver, other.deliveries.front(), Ack{}), store::Settled::ok);
  }
  EXPECT_EQ(unfinished(open_inbox(url)->driver), 0U);
}

TYPED_TEST(AStoppedWorker, SettlesOkAfterTheLeaseExpired) {
  const std::string url = this->place_.url();
  StoppedWorker worker(url);
  ASSERT_TRUE(eventually([&] { return no_lease_is_live(url); }));
  EXPECT_EQ(worker.resume(), store::Settled::ok);
  EXPECT_EQ(unfinished(open_inbox(url)->driver), 0U);
}

}  // namespace
}  // namespace hapax::test
