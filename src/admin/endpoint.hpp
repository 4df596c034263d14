// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/access.hpp"
#include "admin/api/async_handler.hpp"
#include "admin/config_view.hpp"
#include "admin/routes.hpp"
#include "deliver/polls.hpp"
#include "deliver/pull.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "gateway/handshake.hpp"
#include "gateway/metrics.hpp"
#include "http/server.hpp"

#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace hapax::admin {

// Dependencies of the pull API, besides those of all handlers.
struct PullDeps {
  AsyncStore& async_store;
  deliver::LeaseCache& lease_cache;
  deliver::Polls& polls;
  deliver::LeaseRoom& room;
  std::function<std::int64_t()> node;  // the number of this node
};

// Returns the current access rules; never null. Called by every I/O thread.
using AccessFn = std::function<std::shared_ptr<const Access>()>;

// Shared by the endpoints of all I/O threads. The pool must outlive the server: its threads post
// results to the I/O threads.
struct EndpointDeps {
  ApiDeps api;
  PullDeps pull;
  Log& log;
  boost::asio::thread_pool& pool;  // a few threads for blocking store calls
  AccessFn access;
  ConfigFn config;
};

inline constexpr std::size_t kMaxWaiting = 256;                 // requests; more are queue-full
inline constexpr std::size_t kMaxPolling = deliver::kMaxPolls;  // waiting lease requests
inline constexpr std::size_t kMaxRequest = 1024 * 1024;         // body bytes

// The admin API on one I/O thread: routes() behind checks of the token and the Host header.
class Endpoint final : public http::Handler {
 public:
  explicit Endpoint(const EndpointDeps& deps);

  std::variant<http::ReadBody, http::Reply> on_headers(const http::Head& head,
                                                       std::string_view peer) override;
  Task<http::Reply> answer(const http::Incoming& incoming) override;
  void refused(http::Refusal why, std::string_view peer) override;

  // Called on its thread. Waiting lease requests get empty responses.
  void stop();

 private:
  http::Reply reject(http::Refusal why, std::string_view peer);
  std::optional<http::Reply> check_right(const Route& route, const http::Head& head,
                                         std::string_view peer);
  http::Reply after_wait(const Route& route, const http::Incoming& incoming, http::Reply reply);
  RightCheck right_check(const http::Head& head) const;
  Task<http::Reply> wait(const Route& route, const ApiContext& context, const Call& call);
  deliver::Pull& pull_on(const Executor& executor);
  Task<Result<std::vector<std::optional<deliver::LeaseRecord>>>> look_up(
      std::span<const deliver::LeaseId> ids);

  EndpointDeps deps_;
  const Rights no_rights_{std::vector<Grant>()};
  RunBlocking run_blocking_;
  std::unique_ptr<TimerFactory> timers_;
  std::optional<deliver::Pull> pull_;  // created on first use
  bool stopping_ = false;
  LogLimit limit_;  // by reason
};

}  // namespace hapax::admin
