// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "support/postgres.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace hapax::test {

// What happens to one request on its way. "Before": the server never gets it. "After": the server
// has answered, so what it did is committed or rolled back, and the answer is dropped.
enum class Fault : std::uint8_t {
  cut_before,      // both sides are closed
  cut_after,       // both sides are closed
  silence_before,  // the connection stays open and nothing passes any more: half-open
  silence_after,   // the same
  hold,            // the client is cut off; the server gets the request when it is released
};

// Which requests a fault waits for.
enum class Kind : std::uint8_t {
  any,
  claim,   // a statement of the store's own that claims ids
  lease,   // ... that leases deliveries
  commit,  // a COMMIT of the caller's transaction
};

// What a new connection meets.
enum class Welcome : std::uint8_t {
  forward,
  refuse,   // it is reset at once
  swallow,  // it is accepted and never answered: half-open from the start
};

// Stands before a PostgreSQL server, on a TCP port of its own, and does to the bytes in between
// what networks do. It follows what the client sends closely enough to see where a request ends (an
// extended query's Sync, or a simple query); requests pass whole. It does not read TLS: url() turns
// that off. Thread-safe; each call has taken effect when it returns.
class Gate {
 public:
  // `directory` is where the server's socket is.
  explicit Gate(const std::string& directory = postgres_directory());
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  std::string url(const std::string& database) const;

  void delay_each_chunk(std::chrono::milliseconds by);
  void trickle(std::size_t bytes_at_a_time);
  void welcome(Welcome welcome);
  void cut();        // resets every connection
  void half_open();  // swallows what comes on every connection, and on new ones
  // New connections pass again, whole and at once. Old ones that were silenced stay so.
  void heal();

  // The next request of this kind, on any connection, meets the fault. One at a time.
  void arm(Fault fault, Kind kind);
  // ... and the one after that meets this one.
  void then_arm(Fault fault, Kind kind);
  // How many faults have happened; "after" faults when the server's answer was there. A cut is
  // counted before the client can notice it. A client whose connection falls silent times out,
  // perhaps before that is counted: wait for it.
  int strikes() const;
  // Waits until that many have happened. False: they have not.
  bool wait_for_strikes(int count);

  // Sends the held request to the server, whose answer nobody reads.
  void release_held();
  void wait_until_held_is_answered();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace hapax::test
