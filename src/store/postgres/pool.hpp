// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/postgres/canceller.hpp"
#include "store/postgres/connection.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hapax::store::postgres {

// The store's connections: created on demand, kept while they work. Bounded by the number of
// concurrent callers. Thread-safe.
class Pool {
 public:
  Pool(std::string url, BootTime timeout, const Clock& clock, Random& random)
      : url_(std::move(url)), timeout_(timeout), clock_(clock), random_(random) {}

  // Sets a statement that every new connection runs first. Its failure is ignored, unless it breaks
  // the connection.
  void first_run(const char* sql) { first_ = sql; }

  enum class Wait : std::uint8_t {
    briefly,    // for a restart; if the server is away for longer, callers fail fast
    patiently,  // until the deadline
  };

  // A connection that worked when it was last used, or a new one. While the server is unreachable
  // it retries with backoff until the deadline.
  Result<Connection> take(BootTime deadline, Wait wait);
  // Whether the server has been unreachable for longer than a restart takes.
  bool is_away() const;
  // Drops a broken connection, and all idle ones with it: they had the same server.
  void release(Connection connection);

 private:
  // An unreachable server, from the first failure on.
  struct Away {
    BootTime since{};
    BootTime ask_again{};
    bool asking = false;  // a caller is probing
    int failures = 0;
    Error why;
  };

  Result<Connection> connect();
  std::optional<Connection> take_idle();
  std::optional<Error> not_now();
  void note(const Result<Connection>& made);
  bool is_for_long(BootTime now) const;

  const std::string url_;
  const BootTime timeout_;
  const Clock& clock_;
  Random& random_;
  const char* first_ = nullptr;
  Canceller canceller_;  // before the connections, which use it
  mutable std::mutex mutex_;
  std::vector<Connection> idle_;
  std::optional<Away> away_;
};

}  // namespace hapax::store::postgres
