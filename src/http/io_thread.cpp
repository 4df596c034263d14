// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/io_thread.hpp"

#include "base/calendar.hpp"

namespace hapax::http {

namespace {

constexpr std::chrono::milliseconds kTick{250};

}  // namespace

IoThread::IoThread(Clock& clock)
    : clock_(clock), open_(context_.get_executor()), timer_(context_.get_executor()) {
  sweep_deadlines();
}

void IoThread::run() {
  tick();
  context_.run();
}

std::list<HasDeadline*>::iterator IoThread::add(HasDeadline& connection) {
  return connections_.insert(connections_.end(), &connection);
}

void IoThread::remove(std::list<HasDeadline*>::iterator place) {
  connections_.erase(place);
}

void IoThread::stop(BootTime grace) {
  stopping_ = true;
  end_ = std::min(end_, clock_.since_boot() + grace);
  sweep_deadlines();
  open_.reset();
}

void IoThread::tick() {
  if (stopping_ && connections_.empty()) return;
  timer_.expires_after(kTick);
  timer_.async_wait([this](boost::system::error_code) {
    sweep_deadlines();
    tick();
  });
}

void IoThread::sweep_deadlines() {
  now_ = clock_.since_boot();
  date_ = format_http_date(clock_.wall());
  for (HasDeadline* each : connections_) {
    const bool over = now_ >= each->deadline || (stopping_ && (each->idle || now_ >= end_));
    if (!over) continue;
    each->expired = true;
    each->cancel();
  }
}

}  // namespace hapax::http
