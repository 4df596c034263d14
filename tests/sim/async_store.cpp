// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/async_store.hpp"

#include <algorithm>

namespace hapax::sim {

template <class Work, class Answer>
Task<Answer> SimAsyncStore::wait_for(Lane<Work, Answer>& lane, const Work& work) {
  const auto enter = [this, &lane, &work](std::unique_ptr<Waiter<Answer>> waiter) {
    const std::uint64_t number = lane.waiters.add(std::move(waiter));
    boost::asio::io_context& origin = lifecycle_.context();
    if (stopping_) {
      return lane.waiters.answer(origin, number,
                                 Error(Code::stopping, "the server is shutting down"));
    }
    lane.waiting.push_back({number, work});
    lifecycle_.in(kMaxWait, [this, &lane, &origin, number] {
      const auto late = std::find_if(lane.waiting.begin(), lane.waiting.end(),
                                     [&](const auto& each) { return each.waiter == number; });
      if (late == lane.waiting.end()) return;
      lane.waiting.erase(late);
      last_late_ = lifecycle_.now();
      lane.waiters.answer(origin, number,
                          Error(Code::store_unavailable, "timed out waiting for the store"));
    });
    start();
  };
  co_return co_await suspend<Answer>(enter);
}

Task<store::AdmitAnswer> SimAsyncStore::admit(const store::Admit& admit) {
  return wait_for(admits_, admit);
}

Task<Result<store::Lease>> SimAsyncStore::lease(const store::LeaseRequest& request) {
  return wait_for(leases_, request);
}

Task<Result<std::vector<store::Settled>>> SimAsyncStore::settle(Settlements settlements) {
  // A coroutine, so that the span lives until the answer arrives.
  co_return co_await wait_for(settles_, settlements);
}

BootTime SimAsyncStore::delay() {
  Timeline& timeline = lifecycle_.timeline();
  const bool slow = timeline.one_in(delays_.slow_one_in);
  return timeline.between(delays_.least, slow ? delays_.slow : delays_.most) / 2;
}

void SimAsyncStore::start() {
  if (busy_) return;
  busy_ = true;
  // After all other work of this instant, so that it joins the same batch.
  lifecycle_.in(BootTime(0), [this] { take(); });
}

void SimAsyncStore::take() {
  std::size_t room = kMaxBatch;
  const auto take_from = [&room](auto& lane, auto& into) {
    for (; room > 0 && !lane.waiting.empty(); --room) {
      into.push_back(std::move(lane.waiting.front()));
      lane.waiting.pop_front();
    }
  };
  group_ = {};
  take_from(settles_, group_.settles);
  take_from(admits_, group_.admits);
  take_from(leases_, group_.leases);
  busy_ = room < kMaxBatch;
  if (!busy_) return;
  sent_ = true;
  lifecycle_.in(delay(), [this] {
    write();
    lifecycle_.in(delay(), [this] { answer(); });
  });
}

void SimAsyncStore::write() {
  sent_ = false;
  ++writes_;
  std::vector<store::Settlement> settles;
  std::vector<store::Admit> admits;
  std::vector<store::LeaseRequest> leases;
  for (const auto& each : group_.settles) {
    settles.insert(settles.end(), each.work.begin(), each.work.end());
  }
  for (const auto& each : group_.admits) admits.push_back(each.work);
  for (const auto& each : group_.leases) leases.push_back(each.work);
  group_.answers = store_.write({.settle = settles, .admit = admits, .lease = leases});
}

void SimAsyncStore::answer() {
  boost::asio::io_context& origin = lifecycle_.context();
  store::Answers& answers = group_.answers;
  std::ptrdiff_t at = 0;
  for (const auto& each : group_.settles) {
    Result<std::vector<store::Settled>> part = std::vector<store::Settled>();
    if (answers.settle) {
      const auto first = answers.settle->begin() + at;
      part->assign(first, first + static_cast<std::ptrdiff_t>(each.work.size()));
      at += static_cast<std::ptrdiff_t>(each.work.size());
    } else {
      part = answers.settle.error();
    }
    settles_.waiters.answer(origin, each.waiter, std::move(part));
  }
  for (std::size_t i = 0; i < group_.admits.size(); ++i) {
    admits_.waiters.answer(origin, group_.admits[i].waiter, std::move(answers.admit[i]));
  }
  for (std::size_t i = 0; i < group_.leases.size(); ++i) {
    Result<store::Lease> one = store::Lease();
    if (answers.lease) {
      one = std::move((*answers.lease)[i]);
    } else {
      one = answers.lease.error();
    }
    leases_.waiters.answer(origin, group_.leases[i].waiter, std::move(one));
  }
  take();
}

bool SimAsyncStore::idle() const {
  return !busy_ && admits_.waiters.size() + leases_.waiters.size() + settles_.waiters.size() == 0;
}

void SimAsyncStore::die() {
  if (sent_ && lifecycle_.timeline().one_in(2)) write();
  admits_.waiters.clear();
  leases_.waiters.clear();
  settles_.waiters.clear();
}

}  // namespace hapax::sim
