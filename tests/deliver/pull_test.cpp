// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull.hpp"

#include "model/numbers.hpp"
#include "store/memory/driver.hpp"
#include "support/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <deque>

// Pull without HTTP: an unreliable store and many waiting polls. The clock does not advance, so no
// poll queries the store because of the time.
namespace hapax::deliver {
namespace {

using std::chrono::seconds;
using store::Settled;
using testing::ElementsAre;

// Writes immediately. While `lost` has errors, settle() returns one of them instead of the result.
class DirectStore final : public AsyncStore {
 public:
  explicit DirectStore(const store::Driver& driver) : driver_(driver) {}

  Task<store::AdmitAnswer> admit(const store::Admit& admit) override {
    co_return driver_.queue->write({.admit = {&admit, 1}}).admit.at(0);
  }
  Task<Result<store::Lease>> lease(const store::LeaseRequest& request) override {
    ++leases;
    co_return driver_.queue->write({.lease = {&request, 1}}).lease.value().at(0);
  }
  Task<Result<std::vector<Settled>>> settle(std::span<const store::Settlement> what) override {
    ++settles;
    Result<std::vector<Settled>> settled = driver_.queue->write({.settle = what}).settle;
    if (lost.empty()) co_return settled;
    const Error error = lost.front();
    lost.pop_front();
    co_return error;
  }

  int leases = 0;
  int settles = 0;
  std::deque<Error> lost;

 private:
  const store::Driver& driver_;
};

// Waits end at once and advance the clock instead.
class TimePasses final : public TimerFactory {
 public:
  explicit TimePasses(test::ManualClock& clock) : clock_(clock) {}
  std::unique_ptr<WakeableTimer> make() override { return std::make_unique<One>(clock_); }

 private:
  class One final : public WakeableTimer {
   public:
    explicit One(test::ManualClock& clock) : clock_(clock) {}
    Task<void> wait_until(BootTime when) override {
      clock_.advance(std::max(BootTime{0}, when - clock_.since_boot()));
      co_return;
    }
    void wake() override {}

   private:
    test::ManualClock& clock_;
  };

  test::ManualClock& clock_;
};

class PullTest : public testing::Test {
 protected:
  PullTest() {
    to_.no =
        DestinationNo(driver_.catalog->number_of(store::NameKind::destination, "work").value());
    to_.retry = {seconds(10)};
  }

  void admit(int count) {
    const store::Target target{to_.no};
    const SourceNo source(driver_.catalog->number_of(store::NameKind::source, "demo").value());
    for (int i = 0; i < count; ++i) {
      const store::Arrival arrival{
          .no = numbers_.next(), .source = source, .body = "x", .targets = {&target, 1}};
      const store::Admit admit{.arrivals = {&arrival, 1}};
      ASSERT_TRUE(driver_.queue->write({.admit = {&admit, 1}}).admit.at(0));
    }
    notifier_.notify(to_.no);
  }
  Task<void> lease_into(Wanted wanted, std::vector<store::Lease>& into) {
    const std::function<bool()> is_gone = [] { return false; };
    Result<GivenLease> given = co_await pull_.lease(to_, wanted, is_gone);
    into.push_back(std::move(given).value().lease);
  }
  void start_lease(const Wanted& wanted, std::vector<store::Lease>& into) {
    boost::asio::co_spawn(loop_, lease_into(wanted, into), boost::asio::detached);
  }
  void run_ready() {
    loop_.restart();
    loop_.poll();
  }
  Task<void> settle_into(WorkerResult result, std::optional<Result<std::vector<Settled>>>& into) {
    const DestinationFilter all;
    const std::span<const WorkerResult> one(&result, 1);
    Result<std::vector<Settled>> settled = co_await settling_.settle(one, all);
    into.emplace(std::move(settled));
  }
  Result<std::vector<Settled>> settle(const WorkerResult& result) {
    std::optional<Result<std::vector<Settled>>> settled;
    boost::asio::co_spawn(loop_, settle_into(result, settled), boost::asio::detached);
    loop_.restart();
    loop_.run();
    return *settled;
  }
  Task<void> lease_without_waiting(std::optional<Result<GivenLease>>& into) {
    const std::function<bool()> is_gone = [] { return false; };
    const Wanted wanted{.max = 1000};
    Result<GivenLease> given = co_await settling_.lease(to_, wanted, is_gone);
    into.emplace(std::move(given));
  }
  Result<GivenLease> lease_all() {
    std::optional<Result<GivenLease>> given;
    boost::asio::co_spawn(loop_, lease_without_waiting(given), boost::asio::detached);
    loop_.restart();
    loop_.run();
    return *std::move(given);
  }
  LeaseId lease_one() {
    std::vector<store::Lease> leased;
    start_lease({}, leased);
    run_ready();
    return ids_of(leased.at(0)).at(0);
  }

  Pull::Deps deps(TimerFactory& timers) {
    return {loop_.get_executor(),
            async_store_,
            timers,
            notifier_,
            clock_,
            random_,
            lease_cache_,
            room_,
            [](std::span<const LeaseId> names)
                -> Task<Result<std::vector<std::optional<LeaseRecord>>>> {
              co_return std::vector<std::optional<LeaseRecord>>(names.size());
            },
            [this](DestinationNo) { return std::make_shared<const Destination>(to_); },
            [] { return std::int64_t{1}; }};
  }

  test::ManualClock clock_;
  EventNumbers numbers_{clock_, NodeNo(1)};
  test::SeededRandom random_{1};
  store::Driver driver_ = store::memory::make_driver(1000, clock_);
  DirectStore async_store_{driver_};
  DeliveryNotifier notifier_;
  LeaseCache lease_cache_;
  LeaseRoom room_;
  Destination to_{.name = "work"};
  boost::asio::io_context loop_;
  std::unique_ptr<TimerFactory> timers_ = make_timer_factory(loop_.get_executor(), clock_);
  TimePasses time_passes_{clock_};
  Pull pull_{deps(*timers_)};
  Pull settling_{deps(time_passes_)};  // its pauses between retries take no time
};

// A delivery of unknown size counts as 1 MiB in base64 until the store returns its size.
TEST_F(PullTest, LittleMemoryMeansFewerLeasesAndNoneMeansBackpressure) {
  constexpr std::size_t kOne = std::size_t{1408} * 1024;
  const auto hold = [&](std::size_t bytes) {
    return LeaseRoom::Permit::Request{to_.no, bytes, bytes};
  };
  admit(10);
  std::optional<LeaseRoom::Permit> unread;
  unread.emplace(room_, hold(kMaxLeaseRoom / 2 - 3 * kOne), [] {});
  Result<GivenLease> few = lease_all();
  ASSERT_TRUE(few);
  EXPECT_EQ(few->lease.deliveries.size(), 3U);
  EXPECT_LT(few->room->bytes(), kOne) << "the unused reservation is released";
  unread.reset();
  unread.emplace(room_, hold(kMaxLeaseRoom / 2 - kOne), [] {});
  const Result<GivenLease> none = lease_all();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::queue_full);
  EXPECT_EQ(async_store_.leases, 1) << "no query without memory for the result";
  unread.reset();
  const Result<GivenLease> rest = lease_all();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->lease.deliveries.size(), 7U);
}

// stop() ends the wait at once, before the worker's wait time and before the next retry.
TEST_F(PullTest, AStoppingServerDoesNotWaitForMemory) {
  const std::size_t all = kMaxLeaseRoom / 2;
  const LeaseRoom::Permit unread(room_, {to_.no, all, all}, [] {});
  std::vector<store::Lease> got;
  start_lease({.wait = seconds(60)}, got);
  run_ready();
  EXPECT_TRUE(got.empty());
  pull_.stop();
  run_ready();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_TRUE(got[0].deliveries.empty());
}

TEST_F(PullTest, ASettleWithALostResponseIsRetried) {
  admit(1);
  const LeaseId lease = lease_one();
  async_store_.lost = {Error(Code::outcome_unknown, "lost"),
                       Error(Code::store_unavailable, "down")};
  const auto settled = settle({.lease = lease, .outcome = WorkerResult::Outcome::retry});
  ASSERT_TRUE(settled);
  EXPECT_THAT(*settled, ElementsAre(Settled::ok));
  EXPECT_EQ(async_store_.settles, 3);
  const auto event = driver_.catalog->event(lease.which.event).value().value.value();
  EXPECT_EQ(event.deliveries.at(0).attempts, 1U) << "the attempt counts once";
}

TEST_F(PullTest, AStoppingServerDoesNotRetry) {
  admit(1);
  const LeaseId lease = lease_one();
  async_store_.lost = {Error(Code::stopping, "stopping")};
  const auto settled = settle({.lease = lease, .outcome = WorkerResult::Outcome::ack});
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().code(), Code::stopping);
  EXPECT_EQ(async_store_.settles, 1);
}

// An event makes only one of a hundred waiting polls query the store.
TEST_F(PullTest, ANotificationMakesOneOfManyPollsQueryTheStore) {
  std::vector<store::Lease> got;
  for (int i = 0; i < 100; ++i) start_lease({.max = 2, .wait = seconds(60)}, got);
  run_ready();
  const int before = async_store_.leases;
  EXPECT_EQ(before, 100) << "one query per poll";
  admit(1);
  run_ready();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(async_store_.leases, before + 1);
  // Seven events exceed the max of one poll, so each poll that is filled wakes the next.
  admit(7);
  run_ready();
  ASSERT_EQ(got.size(), 5U);
  EXPECT_EQ(got[1].deliveries.size(), 2U);
  EXPECT_EQ(got[4].deliveries.size(), 1U);
  EXPECT_LE(async_store_.leases, before + 6);
  pull_.stop();
  run_ready();
  EXPECT_EQ(got.size(), 100U);
}

TEST_F(PullTest, AReleasedLeaseGoesToAWaitingPoll) {
  admit(1);
  const LeaseId lease = lease_one();
  std::vector<store::Lease> got;
  start_lease({.wait = seconds(60)}, got);
  run_ready();
  EXPECT_TRUE(got.empty());
  pull_.release({lease}, to_.no);
  run_ready();
  ASSERT_EQ(got.size(), 1U);
  ASSERT_EQ(got[0].deliveries.size(), 1U);
  EXPECT_EQ(got[0].deliveries[0].attempt, 1U);
  EXPECT_EQ(got[0].deliveries[0].abandons, 0U);
}

TEST(LeaseCacheTest, TheOldestRecordIsEvicted) {
  LeaseCache lease_cache(2);
  const DeliveryRef which{EventNo(1), DeliveryNo(1)};
  for (std::int64_t i = 1; i <= 3; ++i)
    lease_cache.note(Fence(i), {.which = which, .to = DestinationNo(1), .attempt = 7});
  EXPECT_FALSE(lease_cache.find(which, Fence(1)));
  ASSERT_TRUE(lease_cache.find(which, Fence(3)));
  EXPECT_EQ(lease_cache.find(which, Fence(3))->attempt, 7U);
  EXPECT_FALSE(lease_cache.find({EventNo(2), DeliveryNo(1)}, Fence(3))) << "of another delivery";
}

}  // namespace
}  // namespace hapax::deliver
