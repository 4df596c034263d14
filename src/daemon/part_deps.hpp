// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "async/delivery_notifier.hpp"
#include "async/group_commit_queue.hpp"
#include "env/log.hpp"
#include "gateway/metrics.hpp"
#include "gateway/numbers.hpp"
#include "http/server.hpp"
#include "store/driver.hpp"

#include <boost/asio/thread_pool.hpp>

namespace hapax::daemon {

// What the parts of the daemon share: Ingest, Delivery, Admin and Maintenance. It outlives them.
struct PartDeps {
  http::Server& server;
  store::Claims& claims;
  store::Queue& queue;
  store::Catalog& catalog;
  store::Rejects& rejects;
  store::Node& node;
  GroupCommitQueue& async_store;
  DeliveryNotifier& notifier;
  gateway::NodeNumbers& numbers;
  gateway::Metrics& metrics;
  admin::ServerState& state;
  boost::asio::thread_pool& pool;       // for blocking store calls
  boost::asio::thread_pool& verifying;  // for costly requests
  Clock& clock;
  Random& random;
  Log& log;
};

}  // namespace hapax::daemon
