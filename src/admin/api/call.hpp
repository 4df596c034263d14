// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "admin/config_view.hpp"
#include "admin/rights.hpp"
#include "http/message.hpp"
#include "store/driver.hpp"

#include <atomic>
#include <string_view>

namespace hapax {
class DeliveryNotifier;
}
namespace hapax::deliver {
class Listeners;
class Replays;
}  // namespace hapax::deliver
namespace hapax::gateway {
class Metrics;
class Handshakes;
class Readmission;
}  // namespace hapax::gateway

namespace hapax::admin {

// Process state for /readyz, and the counters of waiting admin requests.
struct ServerState {
  std::atomic<bool> store_reachable = true;
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> waiting = 0;  // admin requests queued for or using the store
  std::atomic<std::size_t> polling = 0;  // lease requests waiting for deliveries
};

// What the handlers use. It outlives the server.
struct ApiDeps {
  store::Claims& claims;
  store::Queue& queue;
  store::Catalog& catalog;
  store::Rejects& rejects;
  store::Node& node;
  gateway::Metrics& metrics;
  ServerState& state;
  Clock& clock;
  Random& random;
  DeliveryNotifier& notifier;
  const gateway::Handshakes& handshakes;
  gateway::Readmission& readmission;
  deliver::Replays& replays;
  deliver::Listeners& listeners;
  StatusFn status;
};

// The context of a handler.
struct ApiContext : ApiDeps {
  const ConfigView& config;  // as of the request
};

// A routed request.
struct Call {
  std::string_view argument;  // the value of {event} or {source} in the path
  std::string_view query;     // without the '?'
  std::string_view body;
  const Rights& rights;
  const http::Head& head;
  http::PeerProbe* probe = nullptr;
};

// A handler of a route. An error becomes failure() of it.
using Handler = Result<http::Reply>(const ApiContext& context, const Call& call);

}  // namespace hapax::admin
