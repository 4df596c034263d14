// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/reactor.hpp"

#include "base/calendar.hpp"

namespace hapax::http {

namespace {

constexpr std::chrono::milliseconds kTick{250};

}  // namespace

Reactor::Reactor(Clock& clock)
    : clock_(clock), open_(context_.get_executor()), timer_(context_.get_executor()) {
  look_at_all();
}

void Reactor::run() {
  tick();
  context_.run();
}

std::list<Timed*>::iterator Reactor::enter(Timed& connection) {
  return connections_.insert(connections_.end(), &connection);
}

void Reactor::leave(std::list<Timed*>::iterator place) {
  connections_.erase(place);
}

void Reactor::stop(BootTime grace) {
  stopping_ = true;
  end_ = std::min(end_, clock_.since_boot() + grace);
  look_at_all();
  open_.reset();
}

void Reactor::tick() {
  if (stopping_ && connections_.empty()) return;
  timer_.expires_after(kTick);
  timer_.async_wait([this](boost::system::error_code) {
    look_at_all();
    tick();
  });
}

void Reactor::look_at_all() {
  now_ = clock_.since_boot();
  date_ = format_http_date(clock_.wall());
  for (Timed* each : connections_) {
    const bool over = now_ >= each->deadline || (stopping_ && (each->idle || now_ >= end_));
    if (!over) continue;
    each->expired = true;
    each->cancel();
  }
}

}  // namespace hapax::http
