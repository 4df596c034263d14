// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/senders.hpp"
#include "sim/worker.hpp"

namespace hapax::sim {

// A cluster: nodes on one store, pull workers, senders and handlers.
class Cluster {
 public:
  // `nodes` 0: chosen by the seed.
  Cluster(Timeline& timeline, const store::Driver& store, std::size_t nodes);

  Ledger& ledger() { return ledger_; }
  Network& network() { return network_; }
  Senders& senders() { return senders_; }
  store::Queue& queue() { return watched_; }  // without faults
  Result<void> pause(DestinationNo destination, bool paused);
  const std::vector<gateway::Source>& sources() const { return sources_; }
  const std::vector<DestinationNo>& destinations() const { return destinations_; }
  std::vector<std::unique_ptr<Node>>& nodes() { return nodes_; }  // null: dead
  std::vector<std::unique_ptr<Worker>>& workers() { return workers_; }

  // Applies from now on, also to restarted nodes and workers.
  void change(const StoreFaults& faults, const Worker::WorkerBehavior& behavior);
  // Changes the configuration of a destination and reloads it in every running node.
  void reload();
  void revive_node(std::size_t which);
  void revive_worker(std::size_t which);

  // Runs all ready work of this instant, node by node. Returns false if there was none.
  bool poll();
  bool complete() const;  // no node is dead, stalled or stopping
  // Simulates an operator who replays or cancels the dead heads of blocked lanes.
  void unblock();

 private:
  void make_destinations();
  NodeDeps deps() { return {timeline_, store_, network_, ledger_, pushed_}; }

  Timeline& timeline_;
  const store::Driver& inner_;
  Ledger ledger_;
  WatchedQueue watched_;
  store::Driver store_;  // as inner_, watched
  Network network_;
  std::vector<DestinationNo> destinations_;
  std::vector<std::shared_ptr<const deliver::Destination>> pushed_;
  DestinationNo pulled_;
  std::vector<gateway::Source> sources_;
  StoreFaults faults_;
  Worker::WorkerBehavior behavior_;
  std::int64_t last_number_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Senders senders_;
};

}  // namespace hapax::sim
