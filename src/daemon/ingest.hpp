// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/snapshot.hpp"
#include "daemon/config.hpp"
#include "daemon/part_deps.hpp"
#include "gateway/endpoint.hpp"
#include "gateway/handshake.hpp"
#include "gateway/readmit.hpp"

#include <optional>
#include <vector>

namespace hapax::daemon {

// The public listener: the sources, an endpoint per I/O thread, and re-admission of rejects.
class Ingest {
 public:
  explicit Ingest(const PartDeps& deps)
      : deps_(deps), rejects_(deps.clock), unclaimed_(deps.clock) {}

  // Called once, before anything else. Moves the sources out of `config`.
  Result<std::shared_ptr<const gateway::Sources>> begin(Config& config);
  Result<void> listen(const Listen& where, const http::Limits& limits);

  // The sources of a new configuration, not active yet. Moves them out of `config`.
  Result<std::shared_ptr<const gateway::Sources>> prepare(Config& config);
  // Activates them. Running requests keep the old ones.
  void apply(const std::shared_ptr<const gateway::Sources>& sources);

  std::uint16_t port() const { return port_; }
  const gateway::Handshakes& handshakes() const { return *handshakes_; }
  gateway::Readmission& readmission() { return *readmission_; }
  gateway::DuplicateCounts& duplicates() { return duplicates_; }
  gateway::RejectQueue& rejects() { return rejects_; }

 private:
  Result<void> load_handshakes(const std::string& data_dir);
  gateway::ReceiverDeps receiver_deps();

  const PartDeps& deps_;
  gateway::DuplicateCounts duplicates_;
  gateway::RejectQueue rejects_;
  gateway::UnclaimedRate unclaimed_;
  std::optional<gateway::Handshakes> handshakes_;
  Snapshot<gateway::Sources> sources_;
  store::StoreSecret secret_{};
  std::optional<gateway::Readmission> readmission_;
  std::vector<gateway::Endpoint*> endpoints_;  // one per I/O thread, owned by the server
  std::uint16_t port_ = 0;
};

}  // namespace hapax::daemon
