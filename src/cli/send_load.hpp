// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "cli/send_event.hpp"
#include "http/client.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hapax::cli {

// Determines which event is sent as the i-th: `duplicates` of `count` repeat an earlier event,
// spread evenly. The sequence is deterministic.
class Order {
 public:
  Order(std::uint64_t count, std::uint64_t duplicates) : count_(count), duplicates_(duplicates) {}

  std::uint64_t number_of(std::uint64_t i) const;  // number of the event, from 0
  std::uint64_t events() const { return count_ - duplicates_; }

 private:
  std::uint64_t repeats_until(std::uint64_t i) const;  // repeats among 0..i

  std::uint64_t count_;
  std::uint64_t duplicates_;
};

struct Load {
  http::Url to;
  http::ClientLimits limits;
  std::shared_ptr<const http::ClientTls> tls;
  EventShape shape;
  std::string id;  // the id of a single event, or the common prefix of several
  std::uint64_t count = 1;
  std::uint64_t duplicates = 0;
  std::size_t concurrency = 1;
  double rate = 0;  // events per second; 0: as fast as possible
  std::uint64_t retries = 0;
  std::optional<WallTime> signed_at;  // nullopt: the time of sending

  std::string id_of_event(std::uint64_t number) const;
};

// Results of a run. accepted + duplicate + refused + failed = sent.
struct Tally {
  std::uint64_t sent = 0;
  std::uint64_t accepted = 0;
  std::uint64_t duplicate = 0;
  std::map<std::string, std::uint64_t> refused;  // by reason
  std::uint64_t failed = 0;                      // no answer
  std::uint64_t retried = 0;
  std::optional<http::Failure> first_failure;
  std::optional<http::Response> last;
  std::vector<std::uint32_t> latency_us;  // of answered requests
  std::chrono::microseconds took{0};

  std::uint64_t refusals() const;
  // The latency that `percent` of the requests did not exceed; 0 without answers.
  double latency_ms(double percent) const;  // after finish()
  void finish();                            // sorts the latencies
};

// Sends all events. Fails if an event could not be generated. `progress` is called five times per
// second.
Result<Tally> run_load(const Load& load, Clock& clock,
                       const std::function<void(const Tally&)>& progress);

// The problem type of a hapax error response, such as "signature-invalid"; otherwise "http-404".
std::string reason_of(const http::Response& response);

}  // namespace hapax::cli
