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

// Dependencies of the pull API.
struct Pulling {
  AsyncStore& async_store;
  DeliveryNotifier& notifier;
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
  const store::Driver& driver;  // with an inbox
  gateway::Metrics& metrics;
  Log& log;
  Clock& clock;
  Random& random;
  boost::asio::thread_pool& pool;  // a few threads for blocking store calls
  ServerState& state;
  AccessFn access;
  const gateway::Handshakes& handshakes;
  ConfigFn config;
  gateway::Readmission* readmission = nullptr;  // null: re-admission is disabled
  StatusFn status = {};                         // empty: no push deliveries
  DeliveryNotifier* notifier = nullptr;         // null: no long polls
  const Pulling* pulling = nullptr;             // null: leasing is disabled
  deliver::Replays* replays = nullptr;          // null: bulk replays are disabled
  deliver::Listeners* listeners = nullptr;      // null: listeners are disabled
};

inline constexpr std::size_t kMaxWaiting = 256;                 // requests; more are queue-full
inline constexpr std::size_t kMaxPolling = deliver::kMaxPolls;  // waiting lease requests
inline constexpr std::size_t kMaxRequest = 1024 * 1024;         // body bytes

// The admin API on one I/O thread: routes() behind checks of the token and the Host header.
class Endpoint final : public http::Handler {
 public:
  explicit Endpoint(const EndpointDeps& deps);

  std::variant<std::size_t, http::Reply> on_headers(const http::Head& head,
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
  ApiContext context_of(const ConfigView& view) const;
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
