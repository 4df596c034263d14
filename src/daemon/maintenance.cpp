// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "daemon/maintenance.hpp"

#include "daemon/serving.hpp"
#include "model/ids.hpp"

namespace hapax::daemon {

Maintenance::Maintenance(const PartDeps& deps, Ingest& ingest, Delivery& delivery)
    : deps_(deps),
      delivery_(delivery),
      periodic_({deps.claims, deps.queue, deps.node, deps.numbers, ingest.duplicates(), deps.clock,
                 deps.log},
                make_token(), [this] { every_second(); }),
      reject_writer_(
          {deps.rejects, deps.numbers, ingest.rejects(), deps.metrics, deps.clock, deps.log}) {}

void Maintenance::start() {
  periodic_.start();
  reject_writer_.start();
}

void Maintenance::apply(const gateway::Sources& sources) {
  periodic_.set_retention(periods_of(sources));
}

void Maintenance::stop() {
  reject_writer_.stop();  // before the node number is released
  deps_.async_store.finish();
  periodic_.stop();
}

void Maintenance::every_second() {
  set_gauges();
  report_claim_faults();
  delivery_.every_second();
  // A failed store must be probed here: clients that honor /readyz send nothing.
  admin::ServerState& state = deps_.state;
  if (!state.store_reachable && periodic_.take_node()) state.store_reachable = true;
}

void Maintenance::set_gauges() {
  gateway::Metrics& metrics = deps_.metrics;
  metrics.queue_depth().Set(static_cast<double>(deps_.async_store.waiting()));
  metrics.connections().Set(static_cast<double>(deps_.server.connections()));
  const std::size_t more = deps_.server.rejected() - rejected_connections_;
  if (more == 0) return;
  rejected_connections_ += more;
  metrics.connections_rejected().Increment(static_cast<double>(more));
  deps_.log.line(Level::warning, "connections rejected", {{"count", std::to_string(more)}});
}

// Errors of the store are ignored here: all other users of the store report them.
void Maintenance::report_claim_faults() {
  const Result<store::ClaimFaults> faults = deps_.catalog.claim_faults();
  if (!faults || !deps_.metrics.claim_faults(*faults)) return;
  deps_.log.line(Level::error, "event ids claimed twice",
                 {{"count", std::to_string(faults->doubled)},
                  {"event", to_text(faults->event)},
                  {"other", to_text(faults->other)}});
}

}  // namespace hapax::daemon
