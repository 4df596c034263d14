// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "commit/queue.hpp"

#include "store/fault/driver.hpp"
#include "store/memory/driver.hpp"

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>

// Requests that wait share a transaction; what cannot wait is told so.
namespace hapax {

namespace {

namespace asio = boost::asio;
using store::fault::Fault;
using store::fault::FaultyDriver;

// Lets one write after the other through, when it is told.
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

// An event that stays where it is.
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

class CommitQueueTest : public testing::Test {
 protected:
  void make(const CommitQueue::Limits& limits) {
    queue_ = std::make_unique<CommitQueue>(faulty_, *clock_, limits,
                                           [&](const CommitQueue::Batch& batch) {
                                             const std::lock_guard lock(mutex_);
                                             batches_.push_back(batch.requests);
                                           });
  }

  static Task<void> admit(CommitQueue& queue, OneEvent& event) {
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
  std::unique_ptr<store::Driver> memory_ = store::memory::make_driver(10'000, *clock_);
  Gate gate_;
  FaultyDriver faulty_{*memory_, [&](std::string_view operation) { return gate_.pass(operation); }};
  asio::io_context context_{1};
  std::deque<OneEvent> events_;
  std::mutex mutex_;
  std::vector<std::size_t> batches_;
  std::unique_ptr<CommitQueue> queue_;
};

TEST_F(CommitQueueTest, ALoneRequestWaitsForNobody) {
  make({});
  gate_.open(1);
  const OneEvent& event = send();
  context_.run();
  ASSERT_TRUE(event.answer && *event.answer);
  EXPECT_EQ((*event.answer)->at(0).kind, store::Admission::Kind::fresh);
  EXPECT_EQ(batches(), std::vector<std::size_t>{1});
}

TEST_F(CommitQueueTest, WhatWaitsMeanwhileSharesOneTransaction) {
  make({.max_batch = 20});
  send();
  gate_.wait_for(1);  // the first is at the store; the rest comes together behind it
  for (int i = 0; i < 30; ++i) send();
  gate_.open(100);
  context_.run();
  for (const OneEvent& each : events_) EXPECT_TRUE(each.answer && *each.answer) << each.id;
  EXPECT_EQ(batches(), (std::vector<std::size_t>{1, 20, 10}));
}

TEST_F(CommitQueueTest, AFullQueueRefusesAtOnce) {
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

TEST_F(CommitQueueTest, BytesThatWaitAreBoundedToo) {
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

TEST_F(CommitQueueTest, WhoWaitsForTooLongIsToldAndTheRestGoesOn) {
  make({.threads = 1, .max_wait = std::chrono::milliseconds(50)});
  const OneEvent& first = send();
  gate_.wait_for(1);  // the store has it, and does not answer
  const OneEvent& second = send();
  while (!second.answer) context_.run_one();
  ASSERT_FALSE(*second.answer);
  EXPECT_EQ(second.answer->error().code(), Code::store_unavailable);
  EXPECT_EQ(second.answer->error().outcome(), Outcome::did_not_happen);
  EXPECT_FALSE(first.answer) << "what the store has taken has its own time";
  EXPECT_EQ(queue_->waiting(), 0U);
  gate_.open(2);
  while (!first.answer) context_.run_one();
  EXPECT_TRUE(*first.answer);
  const OneEvent& third = send();
  while (!third.answer) context_.run_one();
  EXPECT_TRUE(*third.answer) << third.answer->error().to_string();
}

TEST_F(CommitQueueTest, StoppingWritesWhatWaitsAndTakesNothingNew) {
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

TEST_F(CommitQueueTest, AFailedTransactionIsToldToEveryoneInIt) {
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

}  // namespace

}  // namespace hapax
