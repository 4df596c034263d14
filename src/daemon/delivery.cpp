// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/delivery.hpp"

#include "base/try.hpp"

namespace hapax::daemon {

Delivery::Delivery(const PartDeps& deps, bool alone)
    : alone_(alone),
      replays_({deps.queue, deps.catalog, deps.node, deps.clock, deps.random, deps.notifier,
                deps.log, alone}),
      listeners_(deps.catalog, deps.node, deps.clock, deps.random,
                 [this] { static_cast<void>(refresh_listeners()); }),
      listening_(listeners_, deps.catalog, deps.clock, deps.log),
      push_(deps) {}

Result<void> Delivery::begin(std::shared_ptr<const admin::ConfigView> view,
                             std::shared_ptr<const gateway::Sources> sources) {
  sources_ = std::move(sources);
  view_.publish(std::move(view));
  HAPAX_TRY(push_.begin(alone_));
  return refresh_listeners();
}

void Delivery::start(const std::vector<deliver::Destination>& destinations) {
  push_.serve(destinations);
  replays_.start();
}

void Delivery::apply(const admin::ConfigView& view, std::shared_ptr<const gateway::Sources> sources,
                     const std::vector<deliver::Destination>& destinations) {
  const std::lock_guard lock(change_);
  sources_ = std::move(sources);
  view_.publish(listening_.with_listeners(view, *sources_));
  push_.serve(destinations);
}

void Delivery::every_second() {
  push_.every_second();
  static_cast<void>(refresh_listeners());  // retried every second
  listening_.drop_old(view());
}

void Delivery::stop(BootTime until) {
  replays_.stop();
  push_.stop(until);
}

// Reloads the listeners of all nodes.
Result<void> Delivery::refresh_listeners() {
  const std::lock_guard lock(change_);
  HAPAX_TRY_ASSIGN(changed, listening_.refresh());
  if (changed) view_.publish(listening_.with_listeners(*view(), *sources_));
  return {};
}

}  // namespace hapax::daemon
