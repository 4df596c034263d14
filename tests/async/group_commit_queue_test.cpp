// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/group_commit_queue.hpp"

#include "store/memory/driver.hpp"
#include "store/sqlite/driver.hpp"
#include "store/sqlite/file/connection.hpp"
#include "support/eventually.hpp"
#include "support/faulty_driver.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>

// Queued requests share a transaction; requests that do not fit into the queue are rejected at
// once.
namespace hapax {

namespace {

namespace asio = boost::asio;
using store::fault::Fault;
using store::fault::FaultyDriver;

// Blocks every write until open() admits it.
class Gate {
 public:
  void open(int count) {
    const std::lock_guard lock(mutex_);
    free_ += count;
    changed_.notify_all();
  }
  Fault pass(std::string_view operation) {
    if (operation != "write") return Fault::none;
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
    return fault_;
  }
  void wait_for(int arrivals) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrivals; });
  }
  int arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    fault_ = Fault::fail;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_ = 0;
  int arrived_ = 0;
  Fault fault_ = Fault::none;
};

// An event at a fixed address: the arrival refers to its members.
struct OneEvent {
  explicit OneEvent(int number) : id("id-" + std::to_string(number)), body(100, 'b') {
    arrival.no = EventNo(number + 1);
    arrival.source = SourceNo(1);
    arrival.key = arrival.id = id;
    arrival.body = body;
  }
  OneEvent(const OneEvent&) = delete;
  OneEvent& operator=(const OneEvent&) = delete;

  store::Admit admit() const { return {.arrivals = {&arrival, 1}}; }

  std::string id;
  std::string body;
  store::Arrival arrival;
  std::optional<store::AdmitAnswer> answer;
};

class GroupCommitQueueTest : public testing::Test {
 protected:
  // By default requests do not time out in the queue, even on a slow machine.
  void make(GroupCommitQueue::Limits limits,
            std::chrono::milliseconds max_wait = std::chrono::hours(1)) {
    limits.max_wait = max_wait;
    make(limits, faulty_);
  }
  void make(const GroupCommitQueue::Limits& limits, store::Queue& store) {
    queue_ = std::make_unique<GroupCommitQueue>(store, *clock_, limits,
                                                [&](const GroupCommitQueue::BatchStats& batch) {
                                                  const std::lock_guard lock(mutex_);
                                                  batches_.push_back(batch.requests);
                                                  if (batch.failed) ++failed_;
                                                });
  }

  static Task<void> admit(GroupCommitQueue& queue, OneEvent& event) {
    const store::Admit work = event.admit();
    store::AdmitAnswer answer = co_await queue.admit(work);
    event.answer = std::move(answer);
  }

  OneEvent& send() {
    OneEvent& event = events_.emplace_back(static_cast<int>(events_.size()));
    asio::co_spawn(context_.get_executor(), admit(*queue_, event), asio::detached);
    context_.poll();
    context_.restart();
    return event;
  }

  std::vector<std::size_t> batches() {
    const std::lock_guard lock(mutex_);
    return batches_;
  }

  std::unique_ptr<Clock> clock_ = make_system_clock();
  store::Driver memory_ = store::memory::make_driver(10'000, *clock_);
  Gate gate_;
  FaultyDriver faulty_{memory_, [&](std::string_view operation) { return gate_.pass(operation); }};
  asio::io_context context_{1};
  std::deque<OneEvent> events_;
  std::mutex mutex_;
  std::vector<std::size_t> batches_;
  int failed_ = 0;  // failed batches
  std::unique_ptr<GroupCommitQueue> queue_;
};

TEST_F(GroupCommitQueueTest, ASingleRequestIsCommittedAtOnce) {
  make({});
  gate_.open(1);
  const OneEvent& event = send();
  context_.run();
  ASSERT_TRUE(event.answer && *event.answer);
  EXPECT_EQ((*event.answer)->at(0).kind, store::Admission::Kind::fresh);
  EXPECT_EQ(batches(), std::vector<std::size_t>{1});
}

TEST_F(GroupCommitQueueTest, RequestsQueuedDuringACommitShareATransaction) {
  make({.max_batch = 20});
  send();
  gate_.wait_for(1);  // the first is in the store; the others queue behind it
  for (int i = 0; i < 30; ++i) send();
  gate_.open(100);
  context_.run();
  for (const OneEvent& each : events_) EXPECT_TRUE(each.answer && *each.answer) << each.id;
  EXPECT_EQ(batches(), (std::vector<std::size_t>{1, 20, 10}));
}

TEST_F(GroupCommitQueueTest, AFullQueueRejectsAtOnce) {
  make({.max_waiting = 5});
  send();
  gate_.wait_for(1);
  for (int i = 0; i < 5; ++i) send();
  const OneEvent& refused = send();
  context_.poll();
  context_.restart();
  ASSERT_TRUE(refused.answer && !*refused.answer);
  EXPECT_EQ(refused.answer->error().code(), Code::queue_full);
  EXPECT_EQ(refused.answer->error().outcome(), Outcome::did_not_happen);
  gate_.open(100);
  context_.run();
  EXPECT_EQ(batches(), (std::vector<std::size_t>{1, 5}));
}

TEST_F(GroupCommitQueueTest, QueuedBytesAreBounded) {
  make({.max_waiting_bytes = 250});
  send();
  gate_.wait_for(1);
  send();
  send();
  const OneEvent& refused = send();
  context_.poll();
  context_.restart();
  ASSERT_TRUE(refused.answer && !*refused.answer);
  EXPECT_EQ(refused.answer->error().code(), Code::queue_full);
  gate_.open(100);
  context_.run();
}

TEST_F(GroupCommitQueueTest, ARequestThatWaitsTooLongFailsAlone) {
  make({.threads = 1}, std::chrono::milliseconds(50));
  // Wait until the store has a request and blocks. On a busy machine a request may time out
  // earlier.
  const OneEvent* first = nullptr;
  ASSERT_TRUE(test::eventually([&] {
    if (first == nullptr || first->answer) first = &send();
    context_.poll();
    context_.restart();
    return gate_.arrived() > 0;
  }));
  const OneEvent& second = send();
  while (!second.answer) context_.run_one();
  ASSERT_FALSE(*second.answer);
  EXPECT_EQ(second.answer->error().code(), Code::store_unavailable);
  EXPECT_EQ(second.answer->error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(first->answer) << "max_wait does not apply to a request in the store";
  EXPECT_EQ(queue_->waiting(), 0U);
  gate_.open(100'000);
  while (!first->answer) context_.run_one();
  EXPECT_TRUE(*first->answer);
  // On a busy machine this request may time out as well; it is sent again then.
  EXPECT_TRUE(test::eventually([&] {
    const OneEvent& third = send();
    while (!third.answer) context_.run_one();
    return third.answer->has_value();
  }));
}

TEST_F(GroupCommitQueueTest, StoppingWritesQueuedRequestsAndRejectsNewOnes) {
  make({});
  const OneEvent& first = send();
  gate_.wait_for(1);
  const OneEvent& second = send();
  queue_->stop();
  const OneEvent& late = send();
  gate_.open(100);
  context_.run();
  EXPECT_TRUE(first.answer && *first.answer);
  EXPECT_TRUE(second.answer && *second.answer);
  ASSERT_TRUE(late.answer && !*late.answer);
  EXPECT_EQ(late.answer->error().code(), Code::stopping);
}

TEST_F(GroupCommitQueueTest, AFailedTransactionFailsEveryRequestInIt) {
  make({});
  gate_.fail();
  send();
  gate_.wait_for(1);
  send();
  gate_.open(100);
  context_.run();
  for (const OneEvent& each : events_) {
    ASSERT_TRUE(each.answer && !*each.answer);
    EXPECT_EQ(each.answer->error().code(), Code::store_unavailable);
  }
}

// Leases and settlements share a transaction with admits.
class MixedQueueTest : public GroupCommitQueueTest {
 protected:
  using Settlements = std::vector<store::Settlement>;

  static Task<void> lease(GroupCommitQueue& queue, store::LeaseRequest request,
                          std::optional<Result<store::Lease>>& into) {
    Result<store::Lease> answer = co_await queue.lease(request);
    into = std::move(answer);
  }
  static Task<void> settle(GroupCommitQueue& queue, Settlements settlements,
                           std::optional<Result<std::vector<store::Settled>>>& into) {
    Result<std::vector<store::Settled>> answer = co_await queue.settle(settlements);
    into = std::move(answer);
  }
  template <class Work>
  void start(Work work) {
    asio::co_spawn(context_.get_executor(), std::move(work), asio::detached);
    context_.poll();
    context_.restart();
  }

  // Admits events with one delivery each and leases these deliveries.
  std::vector<store::Leased> lease_some(int count) {
    const store::Target target{DestinationNo(1)};
    for (int i = 0; i < count; ++i) {
      OneEvent& event = events_.emplace_back(static_cast<int>(events_.size()));
      event.arrival.targets = {&target, 1};
      const store::Admit admit = event.admit();
      static_cast<void>(memory_.queue->write({.admit = {&admit, 1}}));
    }
    const store::LeaseRequest request = lease_request(static_cast<std::size_t>(count));
    return memory_.queue->write({.lease = {&request, 1}}).lease->front().deliveries;
  }
  static store::LeaseRequest lease_request(std::size_t max, std::int64_t from = 1) {
    return {.from = DestinationNo(from), .max = max, .lease = std::chrono::hours(1), .holder = {}};
  }
  static Settlements acks(std::span<const store::Leased> leased) {
    Settlements settlements;
    for (const store::Leased& each : leased) {
      settlements.push_back({{each.event.no, each.delivery}, each.fence, Ack{}, {}});
    }
    return settlements;
  }
};

TEST_F(MixedQueueTest, SettlesAdmitsAndLeasesShareOneTransaction) {
  const std::vector<store::Leased> held = lease_some(3);
  make({});
  send();
  gate_.wait_for(1);
  std::optional<Result<std::vector<store::Settled>>> two;
  std::optional<Result<std::vector<store::Settled>>> one;
  std::optional<Result<store::Lease>> none;
  Settlements stale = acks(std::span(held).first(1));
  stale[0].fence = Fence(stale[0].fence.value() + 1000);
  start(settle(*queue_, acks(std::span(held).last(2)), two));
  start(settle(*queue_, stale, one));
  start(lease(*queue_, lease_request(10), none));
  send();
  gate_.open(100);
  context_.run();
  EXPECT_EQ(batches(), (std::vector<std::size_t>{1, 4}));
  ASSERT_TRUE(two && *two);
  EXPECT_EQ(**two, (std::vector<store::Settled>{store::Settled::ok, store::Settled::ok}));
  ASSERT_TRUE(one && *one);
  EXPECT_EQ(**one, std::vector<store::Settled>{store::Settled::stale});
  ASSERT_TRUE(none && *none);
  EXPECT_TRUE((*none)->deliveries.empty()) << "the third delivery is still leased";
}

TEST_F(MixedQueueTest, SettlesOfABatchRunBeforeItsLeases) {
  const std::vector<store::Leased> held = lease_some(1);
  make({});
  send();
  gate_.wait_for(1);
  Settlements back = acks(held);
  back[0].disposition = Release{};
  std::optional<Result<store::Lease>> leased;
  std::optional<Result<std::vector<store::Settled>>> settled;
  start(lease(*queue_, lease_request(10), leased));
  start(settle(*queue_, back, settled));
  gate_.open(100);
  context_.run();
  ASSERT_TRUE(leased && *leased);
  EXPECT_EQ((*leased)->deliveries.size(), 1U) << "a released delivery can be leased at once";
}

TEST_F(MixedQueueTest, AFailedTransactionAlsoFailsLeasesAndSettles) {
  const std::vector<store::Leased> held = lease_some(1);
  make({});
  gate_.fail();
  std::optional<Result<store::Lease>> leased;
  std::optional<Result<std::vector<store::Settled>>> settled;
  start(lease(*queue_, lease_request(1), leased));
  start(settle(*queue_, acks(held), settled));
  gate_.open(100);
  context_.run();
  ASSERT_TRUE(leased && settled);
  EXPECT_EQ(leased->error().code(), Code::store_unavailable);
  EXPECT_EQ(settled->error().code(), Code::store_unavailable);
}

TEST_F(MixedQueueTest, AFullQueueStillAcceptsSettlements) {
  const std::vector<store::Leased> held = lease_some(1);
  make({.max_waiting = 2});
  send();
  gate_.wait_for(1);
  send();
  send();
  const OneEvent& refused = send();
  std::optional<Result<std::vector<store::Settled>>> settled;
  start(settle(*queue_, acks(held), settled));
  EXPECT_EQ(queue_->waiting(), 2U) << "only admits count";
  gate_.open(100);
  context_.run();
  EXPECT_TRUE(refused.answer && !*refused.answer);
  ASSERT_TRUE(settled && *settled);
  EXPECT_EQ((*settled)->front(), store::Settled::ok);
}

// On SQLite: deliveries to two destinations, where the event of the first delivery is missing.
class DamagedQueueTest : public MixedQueueTest {
 protected:
  DamagedQueueTest() {
    for (std::int64_t to = 1; to <= 2; ++to) {
      OneEvent& event = events_.emplace_back(static_cast<int>(events_.size()));
      const store::Target target{DestinationNo(to)};
      event.arrival.targets = {&target, 1};
      const store::Admit admit = event.admit();
      EXPECT_TRUE(sqlite_.queue->write({.admit = {&admit, 1}}).admit.at(0));
      event.arrival.targets = {};
    }
    const auto db = store::sqlite::open_file(file_, std::chrono::seconds(5)).value();
    const char* const damage = "DELETE FROM hapax_event WHERE no = 1";
    EXPECT_TRUE(store::sqlite::execute(db.get(), damage, "test"));
  }
  ~DamagedQueueTest() override { queue_.reset(); }  // before the store that it uses

  test::TempDir directory_;
  std::string file_ = directory_.file("inbox.db");
  store::Driver sqlite_ = store::sqlite::open_driver(file_, {}, *clock_).value();
  FaultyDriver behind_gate_{sqlite_,
                            [&](std::string_view operation) { return gate_.pass(operation); }};
};

TEST_F(DamagedQueueTest, ADamagedEventFailsOnlyTheLeaseOfItsDestination) {
  make({.max_wait = std::chrono::hours(1)}, behind_gate_);
  send();
  gate_.wait_for(1);
  std::optional<Result<store::Lease>> damaged;
  std::optional<Result<store::Lease>> other;
  start(lease(*queue_, lease_request(10, 1), damaged));
  start(lease(*queue_, lease_request(10, 2), other));
  const OneEvent& admitted = send();
  gate_.open(100);
  context_.run();
  EXPECT_EQ(batches(), (std::vector<std::size_t>{1, 3}));
  ASSERT_TRUE(damaged && !*damaged);
  EXPECT_EQ(damaged->error().code(), Code::store_corrupt);
  ASSERT_TRUE(other && *other) << other->error().to_string();
  EXPECT_EQ((*other)->deliveries.size(), 1U);
  EXPECT_TRUE(admitted.answer && *admitted.answer);
  EXPECT_EQ(failed_, 0) << "the transaction itself succeeds";
}

}  // namespace

}  // namespace hapax
