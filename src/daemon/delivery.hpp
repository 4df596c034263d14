// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/snapshot.hpp"
#include "daemon/deliveries.hpp"
#include "daemon/listening.hpp"
#include "daemon/part_deps.hpp"
#include "deliver/listeners.hpp"
#include "deliver/replays.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace hapax::daemon {

// Where events go: push delivery, listeners with the routes to them, and bulk replays. Destroyed
// before the server, whose event loops push delivery uses.
class Delivery {
 public:
  // `alone`: no other server uses this store.
  Delivery(const PartDeps& deps, bool alone);

  // Called before anything is served.
  Result<void> begin(std::shared_ptr<const admin::ConfigView> view,
                     std::shared_ptr<const gateway::Sources> sources);
  void start(const std::vector<deliver::Destination>& destinations);
  // Replaces the destinations and the routes to them. The numbers of the destinations are set.
  void apply(const admin::ConfigView& view, std::shared_ptr<const gateway::Sources> sources,
             const std::vector<deliver::Destination>& destinations);
  void every_second();
  // Stops the replays; in-flight attempts may end by `until`.
  void stop(BootTime until);

  std::shared_ptr<const admin::ConfigView> view() const { return view_.current(); }
  const Deliveries& push() const { return push_; }
  deliver::Replays& replays() { return replays_; }
  deliver::Listeners& listeners() { return listeners_; }

 private:
  Result<void> refresh_listeners();

  const bool alone_;
  deliver::Replays replays_;
  deliver::Listeners listeners_;
  std::mutex change_;  // serializes apply() and refresh_listeners()
  Listening listening_;
  std::shared_ptr<const gateway::Sources> sources_;
  Snapshot<admin::ConfigView> view_;
  Deliveries push_;
};

}  // namespace hapax::daemon
