// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/postgres.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace hapax::test {

// A fault that one request meets. "Before": the server never gets the request. "After": the server
// has answered, so its work is committed or rolled back, and the answer is dropped.
enum class Fault : std::uint8_t {
  cut_before,      // both sides are closed
  cut_after,       // both sides are closed
  silence_before,  // the connection stays open and passes no more bytes: half-open
  silence_after,   // the same
  hold,            // the client is cut off; the server gets the request on release
};

// The requests that a fault applies to.
enum class Kind : std::uint8_t {
  any,
  claim,   // a statement of the store that claims ids
  lease,   // ... that leases deliveries
  commit,  // a COMMIT of the caller's transaction
};

// Treatment of a new connection.
enum class OnConnect : std::uint8_t {
  forward,
  refuse,   // reset at once
  swallow,  // accepted and never answered: half-open from the start
};

// A TCP proxy in front of a PostgreSQL server that injects network faults. It parses the client's
// bytes far enough to find where a request ends (an extended query's Sync, or a simple query);
// requests pass whole. It does not read TLS, which url() disables. Thread-safe; each call has taken
// effect when it returns.
class Gate {
 public:
  // `directory` contains the server's socket.
  explicit Gate(const std::string& directory = postgres_directory());
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  std::string url(const std::string& database) const;

  void delay_each_chunk(std::chrono::milliseconds by);
  void trickle(std::size_t bytes_at_a_time);
  void on_connect(OnConnect treatment);
  void cut();        // resets every connection
  void half_open();  // discards all bytes of existing and new connections
  // New connections pass again, undelayed. Silenced connections stay silent.
  void heal();

  // The next request of this kind, on any connection, meets the fault. Only one is armed at a time.
  void arm(Fault fault, Kind kind);
  // The request after that one meets this fault.
  void then_arm(Fault fault, Kind kind);
  // Faults that have taken effect; "after" faults once the server has answered. A cut is counted
  // before the client can notice it. A client on a silenced connection may time out before the
  // fault is counted: call wait_for_strikes().
  int strikes() const;
  // Waits for `count` faults. Returns false on a time-out.
  bool wait_for_strikes(int count);

  // Sends the held request to the server and discards the answer.
  void release_held();
  void wait_until_held_is_answered();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace hapax::test
