// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/identify.hpp>
#include <hapax/verify.hpp>

#include "base/snapshot.hpp"
#include "gateway/own_scheme.hpp"
#include "gateway/secret_use.hpp"
#include "store/batch.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hapax::gateway {

// The response to an accepted arrival, in place of hapax's own JSON.
struct AckResponse {
  int status = 200;
  std::string body;
  std::string content_type;  // empty: no Content-Type
};

class ProvisionedSecrets;

// The targets of a source's events: configured destinations and listeners. A request uses one
// version.
using RoutingTable = std::vector<store::Target>;

// One [[source]] of the configuration, or one declared tenant of it, validated and prepared.
// Immutable while active.
struct Source {
  std::string name;
  std::string tenant = {};         // declared, with a path of its own; empty: none
  const Preset* preset = nullptr;  // null: the file defines the scheme. For handshakes
  std::vector<std::string> secrets;
  std::shared_ptr<SecretUse> secret_use = std::make_shared<SecretUse>();
  std::string key_id;
  std::vector<OwnedHeader> parameters;  // {param:NAME}
  Verifier verifier;
  Identifier identifier;
  bool splits = false;  // the response is a list
  bool enforce = true;  // false: observe mode, see gateway/observe.cpp
  // Headers whose value is the secret itself (token and basic schemes): stored as "<redacted>".
  std::vector<std::string> secret_headers;
  std::chrono::milliseconds remember = kDefaultTtl;
  std::chrono::milliseconds keep = kDefaultTtl;
  std::chrono::milliseconds keep_dead = kDefaultTtl;
  std::size_t max_body = 0;
  std::optional<AckResponse> ack;
  std::vector<std::string> deliver_to;
  // The scheme of the verifier, to explain rejections, and how long the sender retries.
  std::shared_ptr<const OwnScheme> scheme = {};
  std::chrono::milliseconds sender_retries{0};
  // For a source that splits: identifies a single item.
  std::optional<Identifier> item_identifier = {};

  // Assigned when the store is open.
  SourceNo no{};
  std::string public_url = {};  // of the server, without a trailing '/'; empty: not configured
  std::shared_ptr<Snapshot<RoutingTable>> routing =
      std::make_shared<Snapshot<RoutingTable>>(std::make_shared<RoutingTable>());

  // Provisioned secrets and pending confirmations; null if the preset has none.
  std::shared_ptr<ProvisionedSecrets> provisioned = {};
};

// Tenant of an event: from the path or from the request.
inline const std::string& tenant_of(const Source& source, const Identity& identity) {
  return source.tenant.empty() ? identity.tenant : source.tenant;
}

// The path after /in/: "stripe" or "stripe/acme".
inline std::string path_of(const Source& source) {
  return source.tenant.empty() ? source.name : source.name + '/' + source.tenant;
}

}  // namespace hapax::gateway
