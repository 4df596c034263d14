// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/chaos.hpp"

namespace hapax::sim {

namespace {

constexpr BootTime kTimeToStop = seconds(20);  // after the grace time, with a slow store

NetworkFaults bad_network(Timeline& timeline) {
  NetworkFaults faults;
  for (std::uint64_t* each :
       {&faults.refused, &faults.reset_before, &faults.reset_after, &faults.lost,
        &faults.lost_answer, &faults.delayed, &faults.slow, &faults.busy}) {
    if (timeline.one_in(2)) *each = 5 + timeline.below(60);
  }
  if (!timeline.one_in(3)) faults.error = 3 + timeline.below(30);
  if (timeline.one_in(3)) faults.moved = 50;
  if (timeline.one_in(3)) faults.gone = 60;
  return faults;
}

StoreFaults bad_store(Timeline& timeline) {
  StoreFaults faults;
  if (!timeline.one_in(3)) faults.any = 10 + timeline.below(300);
  if (timeline.one_in(3)) faults.delays.slow_one_in = 20 + timeline.below(200);
  if (timeline.one_in(4)) faults.delays.most = milliseconds(200);
  return faults;
}

Worker::WorkerBehavior bad_behavior(Timeline& timeline) {
  Worker::WorkerBehavior behavior;
  if (timeline.one_in(2)) behavior.fails = 4 + timeline.below(20);
  if (timeline.one_in(3)) behavior.drops = 30;
  if (timeline.one_in(2)) behavior.sleeps = 5 + timeline.below(20);
  return behavior;
}

}  // namespace

void Chaos::start() {
  on_ = true;
  for (const auto kind : {&Chaos::kill_node, &Chaos::stop_node, &Chaos::stall, &Chaos::kill_worker,
                          &Chaos::jump, &Chaos::disturb_network, &Chaos::operate, &Chaos::reload}) {
    if (!timeline_.one_in(3)) kinds_.push_back(kind);
  }
  if (!timeline_.one_in(4)) cluster_.network().change(bad_network(timeline_));
  cluster_.change(bad_store(timeline_), bad_behavior(timeline_));
  timeline_.in(seconds(1), [this] { happen(); });
}

void Chaos::happen() {
  if (!on_) return;
  if (!kinds_.empty()) (this->*kinds_[timeline_.below(kinds_.size())])();
  timeline_.in(timeline_.between(milliseconds(100), seconds(4)), [this] { happen(); });
}

void Chaos::end() {
  on_ = false;
  cluster_.network().heal();
  cluster_.senders().heal();
  cluster_.change({}, {});
  for (std::size_t i = 0; i < cluster_.nodes().size(); ++i) {
    cluster_.revive_node(i);
    cluster_.nodes()[i]->clock().jump({});
  }
  for (std::size_t i = 0; i < cluster_.workers().size(); ++i) cluster_.revive_worker(i);
  for (const DestinationNo each : cluster_.destinations()) {
    static_cast<void>(cluster_.pause(each, false));
  }
}

DestinationNo Chaos::some_destination() {
  return cluster_.destinations()[timeline_.below(cluster_.destinations().size())];
}

std::optional<DeliveryRef> Chaos::some_delivery() {
  const std::vector<DeliveryRef> all = cluster_.ledger().deliveries();
  if (all.empty()) return std::nullopt;
  return all[timeline_.below(all.size())];
}

void Chaos::kill_node() {
  const std::size_t which = some_node();
  auto& node = cluster_.nodes()[which];
  if (!node) return;
  node->lifecycle().note("is killed");
  const std::int64_t number = node->number();
  node.reset();
  const bool alone = timeline_.one_in(2);
  timeline_.in(timeline_.between(milliseconds(1), seconds(30)), [this, which, number, alone] {
    // Like on SQLite, where a starting node can assume that its predecessor is dead.
    const store::ReleaseStep step{Holder::Kind::push, number};
    if (alone) static_cast<void>(cluster_.queue().release_holder(step));
    cluster_.revive_node(which);
  });
}

void Chaos::stop_node() {
  const std::size_t which = some_node();
  const auto& node = cluster_.nodes()[which];
  if (!node || !node->accepts()) return;
  const BootTime grace = timeline_.between(milliseconds(1), seconds(8));
  node->stop(grace);
  wait_for_stop(which, node->number(), timeline_.now() + grace + kTimeToStop);
}

void Chaos::wait_for_stop(std::size_t which, std::int64_t number, BootTime by) {
  timeline_.in(milliseconds(100), [this, which, number, by] {
    auto& node = cluster_.nodes()[which];
    if (!node || node->number() != number) return;  // killed meanwhile
    if (node->stopped()) {
      node->check_stopped();
      node->lifecycle().note("has stopped");
      node.reset();
      return timeline_.in(timeline_.between(milliseconds(1), seconds(10)),
                          [this, which] { cluster_.revive_node(which); });
    }
    if (timeline_.now() > by && !node->lifecycle().stalled()) {
      return timeline_.fail("stop", node->lifecycle().name() + " does not stop");
    }
    wait_for_stop(which, number, by);
  });
}

void Chaos::stall() {
  const BootTime until = timeline_.now() + timeline_.between(milliseconds(10), seconds(60));
  if (timeline_.one_in(3)) {
    const auto& worker = cluster_.workers()[timeline_.below(cluster_.workers().size())];
    if (worker) worker->lifecycle().stall(until);
    return;
  }
  const auto& node = cluster_.nodes()[some_node()];
  if (!node || !node->accepts()) return;
  node->lifecycle().note("stalls");
  node->lifecycle().stall(until);
}

void Chaos::kill_worker() {
  const std::size_t which = timeline_.below(cluster_.workers().size());
  if (!cluster_.workers()[which]) return;
  cluster_.workers()[which].reset();
  timeline_.in(timeline_.between(milliseconds(1), seconds(10)),
               [this, which] { cluster_.revive_worker(which); });
}

void Chaos::jump() {
  const auto& node = cluster_.nodes()[some_node()];
  if (!node) return;
  const BootTime far = timeline_.one_in(3) ? BootTime(std::chrono::hours(48)) : seconds(200);
  node->clock().jump(timeline_.between(-far, far));
}

void Chaos::disturb_network() {
  const BootTime until = timeline_.now() + timeline_.between(milliseconds(100), seconds(40));
  if (timeline_.one_in(2)) {
    const std::string node = "node-" + std::to_string(some_node());
    return cluster_.network().part(node, some_destination(), until);
  }
  cluster_.network().break_down(some_destination(), until, timeline_.one_in(2));
}

void Chaos::operate() {
  const std::optional<DeliveryRef> which = some_delivery();
  const std::uint64_t what = timeline_.below(6);
  if (what == 0) {
    static_cast<void>(cluster_.pause(some_destination(), true));
  } else if (what == 1) {
    static_cast<void>(cluster_.pause(some_destination(), false));
  } else if (what == 2 && which) {
    timeline_.note("operator", "cancels " + to_text(*which));
    static_cast<void>(cluster_.queue().cancel(*which));
  } else if (which) {
    replay(*which);
  }
}

void Chaos::replay(const DeliveryRef& which) {
  timeline_.note("operator", "replays " + to_text(which));
  store::Replay what{which.event, which.delivery, {}};
  if (timeline_.one_in(4)) what.how.as = store::ReplayAs::as_new;
  what.how.accept_duplicate = timeline_.one_in(2);
  static_cast<void>(cluster_.queue().replay(what));
}

}  // namespace hapax::sim
