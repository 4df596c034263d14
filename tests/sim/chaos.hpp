// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/cluster.hpp"

namespace hapax::sim {

// All that goes wrong, and what people do meanwhile. Every seed has some kinds of it and not
// others, so that rare ones are not drowned by frequent ones.
class Chaos {
 public:
  Chaos(Timeline& timeline, Cluster& cluster) : timeline_(timeline), cluster_(cluster) {}

  void start();
  // Everything is healed, everybody comes back.
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
  void trouble_network();
  void reload() { cluster_.reload(); }
  void operate();
  void replay(const DeliveryRef& which);

  Timeline& timeline_;
  Cluster& cluster_;
  std::vector<void (Chaos::*)()> kinds_;
  bool on_ = false;
};

}  // namespace hapax::sim
