// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/endpoint.hpp"
#include "base/snapshot.hpp"
#include "daemon/config.hpp"
#include "daemon/delivery.hpp"
#include "daemon/ingest.hpp"

#include <string>
#include <vector>

namespace hapax::daemon {

// The admin listener: the API and the access to it.
class Admin {
 public:
  Admin(const PartDeps& deps, Ingest& ingest, Delivery& delivery)
      : deps_(deps), ingest_(ingest), delivery_(delivery) {}

  // Opens the port. After Ingest::begin().
  Result<void> begin(const Config& config, const http::Limits& limits);
  // Applies the tokens and host names. The admin token stays: a change needs a restart.
  void apply(const Config& config);
  // Answers waiting workers; /readyz fails from now on.
  void stop();

  std::uint16_t port() const { return port_; }

 private:
  admin::EndpointDeps endpoint_deps();

  const PartDeps& deps_;
  Ingest& ingest_;
  Delivery& delivery_;
  deliver::LeaseCache lease_cache_;
  deliver::Polls polls_;
  deliver::LeaseRoom room_;
  std::string token_;
  Snapshot<admin::Access> access_;
  std::vector<admin::Endpoint*> endpoints_;  // one per I/O thread, owned by the server
  std::uint16_t port_ = 0;
};

}  // namespace hapax::daemon
