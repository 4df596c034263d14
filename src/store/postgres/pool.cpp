// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/pool.hpp"

#include "env/pause.hpp"
#include "store/postgres/backoff.hpp"
#include "store/postgres/errors.hpp"

namespace hapax::store::postgres {

namespace {

constexpr Backoff kWhileAway{std::chrono::milliseconds(20), std::chrono::seconds(2)};

}  // namespace

std::optional<Connection> Pool::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::nullopt;
  std::optional<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Result<Connection> Pool::take(BootTime deadline) {
  for (int failures = 0;; ++failures) {
    if (std::optional<Connection> idle = take_idle()) return std::move(*idle);
    Result<Connection> made = Connection::connect(url_, clock_, timeout_);
    const BootTime rest = kWhileAway.rest(failures, random_);
    const bool in_time = clock_.since_boot() + rest < deadline;
    if (made || !in_time || !is_passing(made.error())) return made;
    pause(rest);
  }
}

void Pool::give_back(Connection connection) {
  const std::lock_guard lock(mutex_);
  if (connection.broken()) {
    idle_.clear();
  } else {
    idle_.push_back(std::move(connection));
  }
}

}  // namespace hapax::store::postgres
