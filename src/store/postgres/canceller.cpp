// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/canceller.hpp"

#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace hapax::store::postgres {

namespace {

constexpr std::size_t kAbandonedMax = 8;
constexpr std::chrono::milliseconds kLastRequest{500};

void cancel_and_close(pg_conn* connection) {
  if (PGcancel* request = PQgetCancel(connection); request != nullptr) {
    std::array<char, 256> why{};
    PQcancel(request, why.data(), static_cast<int>(why.size()));
    PQfreeCancel(request);
  }
  PQfinish(connection);
}

}  // namespace

// Shared with the thread, which may outlive the object.
struct Canceller::Work {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<pg_conn*> abandoned;
  std::thread thread;  // started by the first abandon()
  bool stopping = false;
  bool ended = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || !abandoned.empty(); });
      if (abandoned.empty()) break;
      pg_conn* connection = abandoned.front();
      abandoned.pop_front();
      lock.unlock();
      cancel_and_close(connection);
      lock.lock();
    }
    ended = true;
    changed.notify_all();
  }
};

Canceller::Canceller() : work_(std::make_shared<Work>()) {}

Canceller::~Canceller() {
  std::unique_lock lock(work_->mutex);
  work_->stopping = true;
  work_->changed.notify_all();
  if (!work_->thread.joinable()) return;
  const bool ended = work_->changed.wait_for(lock, kLastRequest, [&] { return work_->ended; });
  std::thread thread = std::move(work_->thread);
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

void Canceller::abandon(pg_conn* connection) {
  {
    const std::lock_guard lock(work_->mutex);
    if (work_->abandoned.size() < kAbandonedMax) {
      work_->abandoned.push_back(connection);
      if (!work_->thread.joinable()) work_->thread = std::thread([work = work_] { work->run(); });
      work_->changed.notify_all();
      return;
    }
  }
  PQfinish(connection);
}

}  // namespace hapax::store::postgres
