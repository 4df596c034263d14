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
#include "store/contract.hpp"

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
    store::Driver& driver;
    AsyncStore& async_store;
    DeliveryNotifier& notifier;
    gateway::NodeNumbers& numbers;
    gateway::Metrics& metrics;
    boost::asio::thread_pool& pool;  // where the store is asked
    Clock& clock;
    Random& random;
    Log& log;
  };
  explicit Deliveries(const Deps& deps);
  ~Deliveries();  // when it was stopped and the server was too, or before the server was started
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  // Before anything is served. `alone`: no other server uses this store, so existing leases are
  // those of a dead server. They are released at once and not counted.
  Result<void> begin(bool alone);

  // These are in force from now on; their numbers are filled in. One that changed goes on with the
  // next attempt, one that is gone finishes what it has under way.
  void serve(const std::vector<deliver::Destination>& destinations);

  // Nothing more is begun. What is under way may end until then and is released after: no
  // attempt is charged for it. The I/O threads have nothing more to do soon after.
  void stop(BootTime until);

  void every_second();
  // Of an http destination that is served; nothing for others. By any thread.
  std::optional<admin::DestinationStatus> status(const std::string& name) const;

 private:
  struct Station;
  struct Running;
  class KnownSources;

  void start(const deliver::Destination& destination);

  Deps deps_;
  std::unique_ptr<KnownSources> names_;
  std::vector<std::unique_ptr<Station>> stations_;  // one per I/O thread
  std::size_t next_ = 0;                            // station
  bool stopped_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, Running> running_;  // by name
  std::vector<Running> leaving_;            // out of the file, with something under way yet
};

}  // namespace hapax::daemon
