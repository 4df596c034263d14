// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "commit/queue.hpp"

#include "base/check.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace hapax {

namespace asio = boost::asio;

// One request, from the moment it waits until its coroutine goes on.
struct CommitQueue::Waiting {
  explicit Waiting(const store::Admit& work) : admit(work), bytes(size_of(work)) {}
  virtual ~Waiting() = default;

  virtual asio::io_context& home() = 0;
  // Called on the thread of home(), once; the object ends with it.
  static void resume(std::unique_ptr<Waiting> done) { done.release()->go_on(); }

  const store::Admit admit;
  const std::size_t bytes;
  std::optional<store::AdmitAnswer> answer;

 private:
  virtual void go_on() = 0;

  static std::size_t size_of(const store::Admit& work) {
    std::size_t sum = 0;
    for (const store::Arrival& each : work.arrivals) sum += each.body.size() + each.headers.size();
    return sum;
  }
};

namespace {

template <class Handler>
class Suspended final : public CommitQueue::Waiting {
 public:
  Suspended(const store::Admit& work, Handler handler)
      : Waiting(work),
        handler_(std::move(handler)),
        alive_(asio::get_associated_executor(handler_)) {}

  asio::io_context& home() override { return alive_.get_executor().context(); }

 private:
  void go_on() override {
    // Ended first, so that the coroutine finds its memory free.
    Handler handler = std::move(handler_);
    store::AdmitAnswer result = std::move(*answer);
    const auto alive = std::move(alive_);
    delete this;
    std::move(handler)(std::move(result));
  }

  Handler handler_;
  asio::executor_work_guard<Executor> alive_;  // its context runs until it went on
};

using Group = CommitQueue::Group;

constexpr std::size_t kLooks = 5;  // before somebody has waited for too long

// One post per I/O thread, not per request: waking a thread is a system call.
void send_home(Group& done) {
  while (!done.empty()) {
    asio::io_context& home = done.back()->home();
    const auto away = std::stable_partition(
        done.begin(), done.end(), [&](const auto& each) { return &each->home() != &home; });
    Group group(std::make_move_iterator(away), std::make_move_iterator(done.end()));
    done.erase(away, done.end());
    asio::post(home, [group = std::move(group)]() mutable {
      for (auto& each : group) CommitQueue::Waiting::resume(std::move(each));
    });
  }
}

}  // namespace

CommitQueue::CommitQueue(store::Driver& driver, Clock& clock, const Limits& limits, Watcher watcher)
    : driver_(driver), clock_(clock), limits_(limits), watcher_(std::move(watcher)) {
  for (std::size_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { run(); });
  watch_ = std::thread([this] { watch(); });
}

CommitQueue::~CommitQueue() {
  finish();
}

void CommitQueue::finish() {
  stop();
  if (!watch_.joinable()) return;
  for (std::thread& each : threads_) each.join();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  watch_.join();
}

Task<store::AdmitAnswer> CommitQueue::admit(const store::Admit& admit) {
  return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(store::AdmitAnswer)>(
      [this, &admit](auto handler) {
        auto waiting = std::make_unique<Suspended<decltype(handler)>>(admit, std::move(handler));
        enter(std::move(waiting));
      },
      kUseTask);
}

void CommitQueue::enter(std::unique_ptr<Waiting> waiting) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      waiting->answer = Error(Code::stopping, "the server is stopping");
    } else if (waiting_.size() >= limits_.max_waiting ||
               waiting_bytes_ + waiting->bytes > limits_.max_waiting_bytes) {
      waiting->answer = Error(Code::queue_full, "too many requests wait for the store");
    } else {
      ++entered_;
      waiting_bytes_ += waiting->bytes;
      waiting_.push_back(std::move(waiting));
      wake = idle_ > 0;
    }
  }
  if (wake) work_.notify_one();
  if (!waiting) return;
  Group refused;
  refused.push_back(std::move(waiting));
  send_home(refused);
}

void CommitQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
}

std::size_t CommitQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void CommitQueue::run() {
  for (Group group = take(); !group.empty(); group = take()) {
    write(group);
    send_home(group);
  }
}

// Nothing when it is over.
CommitQueue::Group CommitQueue::take() {
  std::unique_lock lock(mutex_);
  ++idle_;
  work_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
  --idle_;
  return take_first(std::min(waiting_.size(), limits_.max_batch));
}

// Under the mutex.
CommitQueue::Group CommitQueue::take_first(std::size_t count) {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  Group group(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  for (const auto& each : group) waiting_bytes_ -= each->bytes;
  left_ += count;
  return group;
}

// While all store threads wait for a store that does not answer nobody else would do it.
void CommitQueue::watch() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, limits_.max_wait / kLooks, [&] { return ended_; })) {
    Group old = take_old();
    if (old.empty()) continue;
    lock.unlock();
    for (auto& each : old) {
      each->answer = Error(Code::store_unavailable, "the store has not come to it in time");
    }
    send_home(old);
    lock.lock();
  }
}

// Under the mutex.
CommitQueue::Group CommitQueue::take_old() {
  entered_before_.push_back(entered_);
  if (entered_before_.size() <= kLooks) return {};
  const std::uint64_t old = entered_before_.front();
  entered_before_.pop_front();
  return old <= left_ ? Group() : take_first(static_cast<std::size_t>(old - left_));
}

void CommitQueue::write(Group& group) {
  std::vector<store::Admit> work;
  work.reserve(group.size());
  for (const auto& each : group) work.push_back(each->admit);
  const BootTime start = clock_.since_boot();
  store::Answers answers = driver_.write({.admit = work});
  HAPAX_CHECK(answers.admit.size() == group.size());
  for (std::size_t i = 0; i < group.size(); ++i) group[i]->answer = std::move(answers.admit[i]);
  const store::AdmitAnswer& first = *group.front()->answer;
  const bool failed = !first && first.error().code() != Code::invalid_argument;
  watcher_({.requests = group.size(), .took = clock_.since_boot() - start, .failed = failed});
}

}  // namespace hapax
