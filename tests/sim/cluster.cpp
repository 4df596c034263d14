// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/cluster.hpp"

#include <algorithm>

namespace hapax::sim {

Cluster::Cluster(Timeline& timeline, const store::Driver& store, std::size_t nodes)
    : timeline_(timeline),
      inner_(store),
      ledger_(timeline, inner_),
      watched_(*inner_.queue, ledger_),
      store_(inner_),
      network_(timeline, ledger_),
      senders_(timeline, inner_, ledger_, nodes_) {
  store_.queue = &watched_;
  make_destinations();
  nodes_.resize(nodes > 0 ? nodes : 1 + timeline_.below(3));
  workers_.resize(1 + timeline_.below(2));
  for (std::size_t i = 0; i < nodes_.size(); ++i) revive_node(i);
  for (std::size_t i = 0; i < workers_.size(); ++i) revive_worker(i);
}

void Cluster::make_destinations() {
  using deliver::Destination;
  const std::vector<milliseconds> schedule = {seconds(1), seconds(2), seconds(5), seconds(10)};
  for (const OnDead on_dead : {OnDead::skip, OnDead::block}) {
    Destination push;
    push.name = on_dead == OnDead::skip ? "skips" : "blocks";
    push.no = DestinationNo(*inner_.catalog->number_of(store::NameKind::destination, push.name));
    push.kind = Destination::Kind::http;
    push.timeout = seconds(5);
    push.lease = seconds(15 + static_cast<int>(timeline_.below(10)));
    push.concurrency = 1 + timeline_.below(8);
    if (timeline_.one_in(3)) push.rate = 2.0 + static_cast<double>(timeline_.below(20));
    push.retry = schedule;
    push.retry.resize(2 + timeline_.below(3));
    if (timeline_.one_in(3)) push.breaker.reset();
    push.on_dead = on_dead;
    ledger_.add_destination(push.no, {push.retry.size(), push.timeout});
    destinations_.push_back(push.no);
    pushed_.push_back(std::make_shared<const Destination>(push));
  }
  pulled_ = DestinationNo(*inner_.catalog->number_of(store::NameKind::destination, "pulled"));
  ledger_.add_destination(pulled_, {});
  destinations_.push_back(pulled_);
  for (int i = 0; i < 3; ++i) {
    sources_.push_back(make_source("source-" + std::to_string(i), i > 0, i > 1));
    gateway::Source& source = sources_.back();
    source.no = SourceNo(*inner_.catalog->number_of(store::NameKind::source, source.name));
    std::vector<store::Target> targets;
    for (const DestinationNo each : destinations_) targets.push_back({each});
    source.routing->publish(std::make_shared<gateway::RoutingTable>(std::move(targets)));
  }
}

void Cluster::change(const StoreFaults& faults, const Worker::WorkerBehavior& behavior) {
  faults_ = faults;
  behavior_ = behavior;
  for (const auto& each : nodes_) {
    if (each) each->change(faults);
  }
  for (const auto& each : workers_) {
    if (each) each->change(faults, behavior);
  }
}

void Cluster::reload() {
  const std::size_t which = timeline_.below(pushed_.size());
  deliver::Destination changed = *pushed_[which];
  changed.lease = seconds(12 + static_cast<int>(timeline_.below(40)));
  changed.concurrency = 1 + timeline_.below(8);
  if (timeline_.one_in(2)) changed.rate = 1.0 + static_cast<double>(timeline_.below(20));
  pushed_[which] = std::make_shared<const deliver::Destination>(changed);
  for (const auto& each : nodes_) {
    if (each) each->reload(which, pushed_[which]);
  }
}

void Cluster::revive_node(std::size_t which) {
  if (nodes_[which]) return;
  const std::string name = "node-" + std::to_string(which);
  timeline_.note(name, "starts");
  nodes_[which] = std::make_unique<Node>(deps(), name, ++last_number_, faults_);
}

void Cluster::revive_worker(std::size_t which) {
  if (workers_[which]) return;
  const std::string name = "worker-" + std::to_string(which);
  timeline_.note(name, "starts");
  workers_[which] = std::make_unique<Worker>(deps(), name, ++last_number_, pulled_, faults_);
  workers_[which]->change(faults_, behavior_);
}

Result<void> Cluster::pause(DestinationNo destination, bool paused) {
  Result<void> done = inner_.catalog->pause(destination, paused);
  if (done) ledger_.paused(destination, paused);
  return done;
}

bool Cluster::poll() {
  bool any = false;
  for (const auto& each : nodes_) any = (each && each->lifecycle().poll()) || any;
  return any;
}

bool Cluster::complete() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const auto& each) { return each && each->accepts(); });
}

void Cluster::unblock() {
  for (const DeliveryRef& each : ledger_.blocking()) {
    if (timeline_.one_in(2)) {
      static_cast<void>(watched_.cancel(each));
    } else {
      static_cast<void>(watched_.replay({each.event, each.delivery, {.accept_duplicate = true}}));
    }
  }
}

}  // namespace hapax::sim
