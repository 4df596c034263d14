// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/delivery.hpp"
#include "daemon/ingest.hpp"
#include "maintenance/maintenance.hpp"
#include "maintenance/reject_writer.hpp"

namespace hapax::daemon {

// The background threads: periodic maintenance and the writer of rejects.
class Maintenance {
 public:
  Maintenance(const PartDeps& deps, Ingest& ingest, Delivery& delivery);

  // Takes the node number. Called before anything is served.
  Result<void> begin() { return periodic_.take_node(); }
  void start();
  void apply(const gateway::Sources& sources);  // their retention
  // Writes the rejects, the group commit queue and the duplicate counts that remain, then releases
  // the node number. After the server has stopped and before it is destroyed.
  void stop();

 private:
  void every_second();
  void set_gauges();
  void report_claim_faults();

  const PartDeps& deps_;
  Delivery& delivery_;
  std::size_t rejected_connections_ = 0;  // already counted and logged
  maintenance::Maintenance periodic_;
  maintenance::RejectWriter reject_writer_;
};

}  // namespace hapax::daemon
