// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/postgres/pool.hpp"

#include "store/postgres/errors.hpp"

#include <poll.h>

#include <algorithm>
#include <array>

namespace hapax::store::postgres {

namespace {

constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{2000};

void pause(BootTime time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  poll(nullptr, 0, static_cast<int>(ms));
}

}  // namespace

std::optional<Connection> Pool::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::nullopt;
  std::optional<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

// Between half and the whole of a pause that doubles, so that many nodes do not come back as one.
BootTime Pool::backoff(int failures) {
  const BootTime most =
      std::min<BootTime>(kFirstPause * (1 << std::min(failures, 10)), kLongestPause);
  std::array<unsigned char, 1> chance{};
  random_.fill(chance);
  return most / 2 + most * chance[0] / 512;
}

Result<Connection> Pool::take(BootTime deadline) {
  if (std::optional<Connection> idle = take_idle()) return std::move(*idle);
  for (int failures = 0;; ++failures) {
    Result<Connection> made = Connection::connect(url_, clock_, timeout_);
    const BootTime rest = backoff(failures);
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
