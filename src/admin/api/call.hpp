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

// The context of a handler.
struct ApiContext {
  store::Claims& claims;
  store::Queue& queue;
  store::Catalog& catalog;
  store::Rejects& rejects;
  store::Node& node;
  const gateway::Metrics& metrics;
  const ServerState& state;
  const ConfigView& config;
  Random& random;
  const gateway::Handshakes& handshakes;
  gateway::Readmission* readmission = nullptr;  // null: re-admission is disabled
  StatusFn status = {};                         // empty: no push deliveries
  DeliveryNotifier* notifier = nullptr;         // null: no long polls
  const Clock* clock = nullptr;
  deliver::Replays* replays = nullptr;      // null: bulk replays are disabled
  deliver::Listeners* listeners = nullptr;  // null: listeners are disabled
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

}  // namespace hapax::admin
