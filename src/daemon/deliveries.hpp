// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/config_view.hpp"
#include "async/async_store.hpp"
#include "async/delivery_notifier.hpp"
#include "deliver/destination.hpp"
#include "env/log.hpp"
#include "gateway/metrics.hpp"
#include "gateway/numbers.hpp"
#include "http/server.hpp"
#include "store/catalog.hpp"
#include "store/queue.hpp"

#include <boost/asio/thread_pool.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hapax::daemon {

// Push delivery: one dispatcher per http destination, on the server's I/O threads. Unconfigured
// destinations have none; their deliveries stay pending.
class Deliveries {
 public:
  // All must outlive it.
  struct Deps {
    http::Server& server;
    store::Queue& queue;
    store::Catalog& catalog;
    AsyncStore& async_store;
    DeliveryNotifier& notifier;
    gateway::NodeNumbers& numbers;
    gateway::Metrics& metrics;
    boost::asio::thread_pool& pool;  // for blocking store calls
    Clock& clock;
    Random& random;
    Log& log;
  };
  explicit Deliveries(const Deps& deps);
  ~Deliveries();  // after stop() here and of the server, or before the server starts
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  // Called before anything is served. `alone`: no other server uses this store, so existing push
  // leases belong to a dead server. They are released at once and not counted.
  Result<void> begin(bool alone);

  // Replaces the destinations; their numbers are set. Changes apply as in PushDispatcher::change().
  // A removed destination finishes its in-flight attempts.
  void serve(const std::vector<deliver::Destination>& destinations);

  // Starts no more attempts. In-flight attempts may end by `until`; the rest is released without
  // counting an attempt. The I/O threads are idle soon after.
  void stop(BootTime until);

  void every_second();
  // The status of a configured http destination; nullopt for others. Thread-safe.
  std::optional<admin::DestinationStatus> status(const std::string& name) const;

 private:
  struct Station;
  struct Running;
  class KnownSources;

  void start(const deliver::Destination& destination);

  Deps deps_;
  std::unique_ptr<KnownSources> names_;
  std::vector<std::unique_ptr<Station>> stations_;  // one per I/O thread
  std::size_t next_ = 0;                            // station to use next
  bool stopped_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, Running> running_;  // by name
  std::vector<Running> leaving_;            // removed, still draining
};

}  // namespace hapax::daemon
