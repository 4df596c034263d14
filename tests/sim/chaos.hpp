// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/cluster.hpp"

namespace hapax::sim {

// Injects faults and operator actions. Each seed enables some kinds and not others, so that
// frequent kinds do not mask rare ones.
class Chaos {
 public:
  Chaos(Timeline& timeline, Cluster& cluster) : timeline_(timeline), cluster_(cluster) {}

  void start();
  // Ends all faults and restarts dead nodes and workers.
  void end();

 private:
  void happen();
  std::size_t some_node() { return timeline_.below(cluster_.nodes().size()); }
  DestinationNo some_destination();
  std::optional<DeliveryRef> some_delivery();
  void kill_node();
  void stop_node();
  void wait_for_stop(std::size_t which, std::int64_t number, BootTime by);
  void stall();
  void kill_worker();
  void jump();
  void disturb_network();
  void reload() { cluster_.reload(); }
  void operate();
  void replay(const DeliveryRef& which);

  Timeline& timeline_;
  Cluster& cluster_;
  std::vector<void (Chaos::*)()> kinds_;
  bool on_ = false;
};

}  // namespace hapax::sim
