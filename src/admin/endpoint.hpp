// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/access.hpp"
#include "admin/routes.hpp"
#include "admin/served.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "gateway/handshake.hpp"
#include "gateway/metrics.hpp"
#include "http/server.hpp"

#include <boost/asio/thread_pool.hpp>

#include <string_view>

namespace hapax::admin {

// What the endpoints of all I/O threads share. The pool must outlive the server: its threads send
// answers back to the I/O threads.
struct Shared {
  store::Driver& driver;
  gateway::Metrics& metrics;
  Log& log;
  Clock& clock;
  Random& random;
  boost::asio::thread_pool& pool;  // where the store is asked: a few threads
  State& state;
  const Access& access;
  const gateway::Handshakes& handshakes;
  WhatIsServed served;
  gateway::Readmission* readmission = nullptr;  // null: rejects are not admitted here
  Bells* bells = nullptr;                       // null: nobody waits for deliveries here
  deliver::Replays* replays = nullptr;          // null: there are no replays of many here
  deliver::Listeners* listeners = nullptr;      // null: there are no listeners here
};

inline constexpr std::size_t kMaxWaiting = 256;          // requests; more are queue-full
inline constexpr std::size_t kMaxRequest = 1024 * 1024;  // bytes of a body

// The admin API of one I/O thread: routes() behind a token and a check of Host.
class Endpoint final : public http::Handler {
 public:
  explicit Endpoint(const Shared& shared) : shared_(shared), limit_(shared.clock) {}

  std::variant<std::size_t, http::Reply> look(const http::Head& head,
                                              std::string_view peer) override;
  Task<http::Reply> answer(const http::Incoming& incoming) override;
  void refused(http::Refusal why, std::string_view peer) override;

 private:
  http::Reply turn_away(http::Refusal why, std::string_view peer);

  Shared shared_;
  LogLimit limit_;  // by reason
};

}  // namespace hapax::admin
