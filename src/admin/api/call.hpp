// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "admin/config_view.hpp"
#include "admin/rights.hpp"
#include "http/message.hpp"
#include "store/contract.hpp"

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

// Process state for /readyz. Set by the one who runs the server.
struct ServerState {
  std::atomic<bool> store_reachable = true;
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> waiting = 0;  // admin requests that wait for the store, or are at it
  std::atomic<std::size_t> polling = 0;  // workers that wait for deliveries
};

// What an answer is made of, besides the request.
struct ApiContext {
  store::Driver& driver;
  const gateway::Metrics& metrics;
  const ServerState& state;
  const ConfigView& config;
  Random& random;
  const gateway::Handshakes& handshakes;
  gateway::Readmission* readmission = nullptr;  // null: rejects are not admitted here
  StatusFn status = {};                         // empty: nothing is posted here
  DeliveryNotifier* notifier = nullptr;         // null: no long polls here
  const Clock* clock = nullptr;
  deliver::Replays* replays = nullptr;      // null: there are no replays of many here
  deliver::Listeners* listeners = nullptr;  // null: there are no listeners here
};

// A request that a route was found for.
struct Call {
  std::string_view argument;  // what stands for {event} or {source} in the path
  std::string_view query;     // without the '?'
  std::string_view body;
  const Rights& rights;
  const http::Head& head;
  http::PeerProbe* probe = nullptr;
};

}  // namespace hapax::admin
