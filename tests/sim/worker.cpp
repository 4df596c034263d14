// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/worker.hpp"

namespace hapax::sim {

namespace {

constexpr milliseconds kLease = seconds(20);
constexpr unsigned kMaxAbandons = 3;

}  // namespace

Worker::Worker(const NodeDeps& deps, const std::string& name, std::int64_t number,
               DestinationNo destination, const StoreFaults& faults)
    : deps_(deps),
      lifecycle_(deps.timeline, name),
      store_(lifecycle_, deps.store),
      number_(number),
      destination_(destination) {
  change(faults, {});
  poll();
}

void Worker::change(const StoreFaults& faults, const WorkerBehavior& behavior) {
  store_.change(faults);
  behavior_ = behavior;
}

void Worker::poll() {
  if (stopping_) return;
  Timeline& timeline = lifecycle_.timeline();
  const store::LeaseRequest request{.from = destination_,
                                    .max = 1 + timeline.below(4),
                                    .lease = kLease,
                                    .holder = {Holder::Kind::pull, number_},
                                    .max_abandons = kMaxAbandons};
  const store::Answers answers = store_.driver().write({.lease = {&request, 1}});
  if (answers.lease) {
    for (const store::Leased& each : answers.lease->front().deliveries) {
      begin(std::make_shared<const store::Leased>(each));
    }
  }
  lifecycle_.in(timeline.between(milliseconds(50), seconds(2)), [this] { poll(); });
}

void Worker::begin(const std::shared_ptr<const store::Leased>& leased) {
  Timeline& timeline = lifecycle_.timeline();
  const bool sleeps = timeline.one_in(behavior_.sleeps);
  const BootTime delay =
      timeline.between(milliseconds(1), sleeps ? BootTime(3 * kLease) : BootTime(seconds(3)));
  if (timeline.one_in(behavior_.renews)) settle(leased, Renew{kLease}, 1);
  lifecycle_.in(delay, [this, leased] { work(leased); });
}

void Worker::work(const std::shared_ptr<const store::Leased>& leased) {
  Timeline& timeline = lifecycle_.timeline();
  const DeliveryRef which{leased->event.no, leased->delivery};
  Disposition disposition = Ack{};
  if (timeline.one_in(behavior_.fails)) {
    deps_.ledger.failed(which, leased->fence);
    disposition = RetryIn{milliseconds(timeline.below(3000))};
  } else if (timeline.one_in(behavior_.drops)) {
    disposition = Drop{};
  } else {
    const bool first = deps_.ledger.effect(destination_, *leased);
    lifecycle_.note((first ? "effect of " : "again ") + to_text(which));
  }
  lifecycle_.in(timeline.between(BootTime(0), milliseconds(20)),
                [this, leased, disposition] { settle(leased, disposition, 3); });
}

void Worker::settle(const std::shared_ptr<const store::Leased>& leased,
                    const Disposition& disposition, int tries) {
  const store::Settlement settlement{
      {leased->event.no, leased->delivery}, leased->fence, disposition, {}};
  const store::Answers answers = store_.driver().write({.settle = {&settlement, 1}});
  if (answers.settle || tries <= 1) return;
  lifecycle_.in(seconds(1),
                [this, leased, disposition, tries] { settle(leased, disposition, tries - 1); });
}

}  // namespace hapax::sim
