// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "async/group_commit_queue.hpp"

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

// A queued request, until its coroutine resumes.
struct GroupCommitQueue::PendingRequest {
  enum class Kind : std::uint8_t { settle, admit, lease };

  PendingRequest(Kind what, std::size_t size) : kind(what), bytes(size) {}
  virtual ~PendingRequest() = default;

  virtual asio::io_context& context() = 0;
  virtual void fail(const Error& error) = 0;
  // Called once, on the thread of context(). Destroys the request.
  static void resume(std::unique_ptr<PendingRequest> done) { done.release()->resume(); }

  const Kind kind;
  const std::size_t bytes;

 private:
  virtual void resume() = 0;
};

namespace {

using Kind = GroupCommitQueue::PendingRequest::Kind;
using Settlements = std::span<const store::Settlement>;

template <class Work>
struct KindOf;
template <>
struct KindOf<store::Admit> {
  static constexpr Kind kKind = Kind::admit;
};
template <>
struct KindOf<store::LeaseRequest> {
  static constexpr Kind kKind = Kind::lease;
};
template <>
struct KindOf<Settlements> {
  static constexpr Kind kKind = Kind::settle;
};

std::size_t bytes_of(const store::Admit& work) {
  std::size_t sum = 0;
  for (const store::Arrival& each : work.arrivals) sum += each.body.size() + each.headers.size();
  return sum;
}
std::size_t bytes_of(const store::LeaseRequest&) {
  return 0;
}
std::size_t bytes_of(const Settlements&) {
  return 0;
}

// A request and its result.
template <class Work, class Answer>
struct QueuedItem : GroupCommitQueue::PendingRequest {
  explicit QueuedItem(const Work& wanted)
      : PendingRequest(KindOf<Work>::kKind, bytes_of(wanted)), work(wanted) {}
  void fail(const Error& error) override { answer.emplace(error); }

  const Work work;
  std::optional<Answer> answer;
};
using AdmitItem = QueuedItem<store::Admit, store::AdmitAnswer>;
using LeaseItem = QueuedItem<store::LeaseRequest, Result<store::Lease>>;
using SettleItem = QueuedItem<Settlements, Result<std::vector<store::Settled>>>;

template <class Work, class Answer, class Handler>
class Suspended final : public QueuedItem<Work, Answer> {
 public:
  Suspended(const Work& wanted, Handler handler)
      : QueuedItem<Work, Answer>(wanted),
        handler_(std::move(handler)),
        alive_(asio::get_associated_executor(handler_)) {}

  asio::io_context& context() override { return alive_.get_executor().context(); }

 private:
  void resume() override {
    // Destroyed first, so that the coroutine can reuse the memory.
    Handler handler = std::move(handler_);
    Answer result = std::move(*this->answer);
    const auto alive = std::move(alive_);
    delete this;
    std::move(handler)(std::move(result));
  }

  Handler handler_;
  asio::executor_work_guard<Executor> alive_;  // keeps the context running until then
};

using Group = GroupCommitQueue::Group;

// A failure of the store, as opposed to an invalid request.
template <class Answer>
bool is_store_error(const Answer& answer) {
  return !answer && answer.error().code() != Code::invalid_argument;
}

// A damaged row, which affects only one lease.
template <class Answer>
bool is_damage(const Answer& answer) {
  return !answer && answer.error().code() == Code::store_corrupt;
}

// A group in the form that the store takes.
struct StoreBatch {
  std::vector<store::Settlement> settlements;
  std::vector<store::Admit> admits;
  std::vector<store::LeaseRequest> leases;
  std::vector<SettleItem*> settle_items;
  std::vector<AdmitItem*> admit_items;
  std::vector<LeaseItem*> lease_items;

  void add(GroupCommitQueue::PendingRequest& waiting) {
    if (waiting.kind == Kind::admit) {
      admit_items.push_back(static_cast<AdmitItem*>(&waiting));
      admits.push_back(admit_items.back()->work);
    } else if (waiting.kind == Kind::lease) {
      lease_items.push_back(static_cast<LeaseItem*>(&waiting));
      leases.push_back(lease_items.back()->work);
    } else {
      settle_items.push_back(static_cast<SettleItem*>(&waiting));
      const Settlements& work = settle_items.back()->work;
      settlements.insert(settlements.end(), work.begin(), work.end());
    }
  }

  // Passes the results to the requests. Returns true if the store failed. A damaged row fails all
  // leases of a batch, so each of them is repeated alone through `store`.
  bool distribute(store::Answers& answers, store::Queue& store) {
    HAPAX_CHECK(answers.admit.size() == admit_items.size());
    for (std::size_t i = 0; i < admit_items.size(); ++i) {
      admit_items[i]->answer = std::move(answers.admit[i]);
    }
    distribute_settled(answers.settle);
    if (is_damage(answers.lease)) {
      lease_apart(store);
    } else {
      distribute_leases(answers.lease);
    }
    return (!admit_items.empty() && is_store_error(*admit_items.front()->answer)) ||
           (!settle_items.empty() && is_store_error(answers.settle)) ||
           (!lease_items.empty() && is_store_error(answers.lease) && !is_damage(answers.lease));
  }

 private:
  void distribute_settled(const Result<std::vector<store::Settled>>& settled) {
    HAPAX_CHECK(!settled || settled->size() == settlements.size());
    std::ptrdiff_t at = 0;
    for (SettleItem* each : settle_items) {
      if (!settled) {
        each->fail(settled.error());
        continue;
      }
      const auto count = static_cast<std::ptrdiff_t>(each->work.size());
      each->answer.emplace(
          std::vector<store::Settled>(settled->begin() + at, settled->begin() + at + count));
      at += count;
    }
  }

  void lease_apart(store::Queue& store) {
    for (LeaseItem* each : lease_items) {
      auto leased = store.write({.lease = {&each->work, 1}}).lease;
      if (leased) {
        each->answer.emplace(std::move(leased->front()));
      } else {
        each->fail(leased.error());
      }
    }
  }

  void distribute_leases(Result<std::vector<store::Lease>>& leased) {
    HAPAX_CHECK(!leased || leased->size() == leases.size());
    for (std::size_t i = 0; i < lease_items.size(); ++i) {
      if (leased) {
        lease_items[i]->answer.emplace(std::move((*leased)[i]));
      } else {
        lease_items[i]->fail(leased.error());
      }
    }
  }
};

constexpr std::size_t kScans = 5;  // before a request times out

// One post per I/O thread, not per request: waking a thread is a system call.
void post_results(Group& done) {
  while (!done.empty()) {
    asio::io_context& context = done.back()->context();
    const auto away = std::stable_partition(
        done.begin(), done.end(), [&](const auto& each) { return &each->context() != &context; });
    Group group(std::make_move_iterator(away), std::make_move_iterator(done.end()));
    done.erase(away, done.end());
    asio::post(context, [group = std::move(group)]() mutable {
      for (auto& each : group) GroupCommitQueue::PendingRequest::resume(std::move(each));
    });
  }
}

}  // namespace

GroupCommitQueue::GroupCommitQueue(store::Queue& store, Clock& clock, const Limits& limits,
                                   Watcher watcher)
    : store_(store), clock_(clock), limits_(limits), watcher_(std::move(watcher)), watch_([this] {
        return fail_overdue();
      }) {
  for (std::size_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { run(); });
  watch_.start();
}

GroupCommitQueue::~GroupCommitQueue() {
  finish();
}

void GroupCommitQueue::finish() {
  stop();
  for (std::thread& each : threads_) each.join();
  threads_.clear();
  watch_.stop();  // last: the store threads may be blocked for long
}

template <class Work, class Answer>
Task<Answer> GroupCommitQueue::wait_for(const Work& work) {
  return asio::async_initiate<const asio::use_awaitable_t<Executor>, void(Answer)>(
      [this, &work](auto handler) {
        enqueue(
            std::make_unique<Suspended<Work, Answer, decltype(handler)>>(work, std::move(handler)));
      },
      kUseTask);
}

Task<store::AdmitAnswer> GroupCommitQueue::admit(const store::Admit& admit) {
  return wait_for<store::Admit, store::AdmitAnswer>(admit);
}

Task<Result<store::Lease>> GroupCommitQueue::lease(const store::LeaseRequest& request) {
  return wait_for<store::LeaseRequest, Result<store::Lease>>(request);
}

Task<Result<std::vector<store::Settled>>> GroupCommitQueue::settle(Settlements settlements) {
  // A coroutine, so that the span lives until the result arrives.
  co_return co_await wait_for<Settlements, Result<std::vector<store::Settled>>>(settlements);
}

void GroupCommitQueue::enqueue(std::unique_ptr<PendingRequest> waiting) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    const bool admits = waiting->kind == Kind::admit;
    if (stopping_) {
      waiting->fail(Error(Code::stopping, "the server is shutting down"));
    } else if (admits && (admits_ >= limits_.max_waiting ||
                          waiting_bytes_ + waiting->bytes > limits_.max_waiting_bytes)) {
      waiting->fail(Error(Code::queue_full, "the store queue is full"));
    } else {
      ++enqueued_;
      if (admits) ++admits_;
      waiting_bytes_ += waiting->bytes;
      waiting_.push_back(std::move(waiting));
      wake = idle_ > 0;
    }
  }
  if (wake) work_.notify_one();
  if (!waiting) return;
  Group refused;
  refused.push_back(std::move(waiting));
  post_results(refused);
}

void GroupCommitQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
}

std::size_t GroupCommitQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return admits_;
}

void GroupCommitQueue::run() {
  for (Group group = take(); !group.empty(); group = take()) {
    write(group);
    post_results(group);
  }
}

// Returns an empty group when stopped and drained.
GroupCommitQueue::Group GroupCommitQueue::take() {
  std::unique_lock lock(mutex_);
  ++idle_;
  work_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
  --idle_;
  return take_first(std::min(waiting_.size(), limits_.max_batch));
}

// mutex_ must be held.
GroupCommitQueue::Group GroupCommitQueue::take_first(std::size_t count) {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  Group group(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  for (const auto& each : group) {
    waiting_bytes_ -= each->bytes;
    if (each->kind == Kind::admit) --admits_;
  }
  dequeued_ += count;
  return group;
}

// A round of a separate thread, because all store threads may be blocked on an unresponsive store.
std::chrono::milliseconds GroupCommitQueue::fail_overdue() {
  Group old;
  {
    const std::lock_guard lock(mutex_);
    old = take_overdue();
  }
  for (auto& each : old) {
    each->fail(Error(Code::store_unavailable, "timed out waiting for the store"));
  }
  post_results(old);
  return limits_.max_wait / kScans;
}

// mutex_ must be held.
GroupCommitQueue::Group GroupCommitQueue::take_overdue() {
  enqueued_before_.push_back(enqueued_);
  if (enqueued_before_.size() <= kScans) return {};
  const std::uint64_t old = enqueued_before_.front();
  enqueued_before_.pop_front();
  return old <= dequeued_ ? Group() : take_first(static_cast<std::size_t>(old - dequeued_));
}

void GroupCommitQueue::write(Group& group) {
  StoreBatch batch;
  for (const auto& each : group) batch.add(*each);
  const BootTime start = clock_.since_boot();
  store::Answers answers =
      store_.write({.settle = batch.settlements, .admit = batch.admits, .lease = batch.leases});
  const bool failed = batch.distribute(answers, store_);
  watcher_({.requests = group.size(), .took = clock_.since_boot() - start, .failed = failed});
}

}  // namespace hapax
