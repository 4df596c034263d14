// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/connection.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hapax::store::postgres {

// The store's connections: made when they are needed, kept while they work. How many there are is
// bounded by who may ask at the same time. Thread-safe.
class Pool {
 public:
  Pool(std::string url, BootTime timeout, const Clock& clock, Random& random)
      : url_(std::move(url)), timeout_(timeout), clock_(clock), random_(random) {}

  // A connection that worked when it was last used, or a new one. While the server cannot be
  // reached it tries again, waiting a little longer each time, until the deadline.
  Result<Connection> take(BootTime deadline);
  // Broken ones are dropped, and so are then all that lie idle: they had the same server.
  void give_back(Connection connection);

 private:
  std::optional<Connection> take_idle();

  const std::string url_;
  const BootTime timeout_;
  const Clock& clock_;
  Random& random_;
  std::mutex mutex_;
  std::vector<Connection> idle_;
};

}  // namespace hapax::store::postgres
