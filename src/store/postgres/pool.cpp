// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/pool.hpp"

#include "env/pause.hpp"
#include "store/postgres/backoff.hpp"
#include "store/postgres/errors.hpp"

namespace hapax::store::postgres {

namespace {

constexpr Backoff kWhileAway{std::chrono::milliseconds(20), std::chrono::seconds(2)};
// Long enough for a restart. A longer wait would delay callers that can get an error at once.
constexpr BootTime kRestart = std::chrono::seconds(2);
// Short, so that recovery is detected soon.
constexpr Backoff kAskAgain{std::chrono::milliseconds(100), std::chrono::milliseconds(500)};

}  // namespace

std::optional<Connection> Pool::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::nullopt;
  std::optional<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

bool Pool::is_for_long(BootTime now) const {
  return away_ && now - away_->since > kRestart;
}

bool Pool::is_away() const {
  const std::lock_guard lock(mutex_);
  return is_for_long(clock_.since_boot());
}

// Why the server should not be queried now. nullopt: the caller may connect. While the server is
// away only one caller at a time may, as a probe; the others fail fast with this reason.
std::optional<Error> Pool::not_now() {
  const std::lock_guard lock(mutex_);
  const BootTime now = clock_.since_boot();
  if (!is_for_long(now)) return std::nullopt;
  if (away_->asking || now < away_->ask_again) return away_->why;
  away_->asking = true;
  return std::nullopt;
}

void Pool::note(const Result<Connection>& made) {
  const std::lock_guard lock(mutex_);
  if (made) {
    away_.reset();
  } else if (away_) {
    away_->why = made.error();
    away_->asking = false;
    away_->ask_again = clock_.since_boot() + kAskAgain.rest(away_->failures++, random_);
  } else if (is_passing(made.error())) {
    away_ = Away{clock_.since_boot(), {}, false, 0, made.error()};
  }
}

Result<Connection> Pool::connect() {
  Result<Connection> made = Connection::connect(url_, clock_, timeout_, &canceller_);
  if (!made || first_ == nullptr) return made;
  Result<QueryResult> answer =
      made->run(first_, {}, clock_.since_boot() + timeout_, "begin a session");
  if (!answer && made->broken()) return std::move(answer).error();
  return made;
}

Result<Connection> Pool::take(BootTime deadline, Wait wait) {
  for (int failures = 0;; ++failures) {
    if (std::optional<Connection> idle = take_idle()) return std::move(*idle);
    if (wait == Wait::briefly) {
      if (std::optional<Error> why = not_now()) return std::move(*why);
    }
    Result<Connection> made = connect();
    note(made);
    if (wait == Wait::briefly && is_away()) return made;
    const BootTime rest = kWhileAway.rest(failures, random_);
    const bool in_time = clock_.since_boot() + rest < deadline;
    if (made || !in_time || !is_passing(made.error())) return made;
    pause(rest);
  }
}

void Pool::release(Connection connection) {
  const std::lock_guard lock(mutex_);
  if (connection.broken()) {
    idle_.clear();
  } else {
    away_.reset();
    idle_.push_back(std::move(connection));
  }
}

}  // namespace hapax::store::postgres
