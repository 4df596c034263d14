// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/source.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hapax::admin {

// A source as the admin API shows it: no secret, and nothing that a request is verified with.
struct ServedSource {
  std::string name;
  SourceNo no{};
  std::string preset = {};  // empty: the configuration says how it is signed
  // As in Preset; nothing where there is none.
  std::optional<bool> id_signed = {};
  std::optional<bool> time_signed = {};
  bool splits = false;
  bool enforce = true;
  bool unnamed = true;                    // can be posted to without a tenant
  std::vector<std::string> tenants = {};  // that are declared
  std::vector<std::string> deliver_to = {};
  std::chrono::milliseconds remember{};
  std::chrono::milliseconds keep{};
  std::chrono::milliseconds keep_dead{};
  std::size_t secrets = 0;
  std::shared_ptr<const gateway::SecretUse> secret_use = {};
};

struct ServedDestination {
  std::string name;
  std::string kind;  // "pull"
  DestinationNo no{};
  bool listen = false;  // a developer's machine: the configuration does not know it
};

// What the configuration in force defines.
struct Served {
  std::vector<ServedSource> sources;
  std::vector<ServedDestination> destinations;
};

// Says what is served now; never null. Called by every I/O thread.
using WhatIsServed = std::function<std::shared_ptr<const Served>()>;

ServedSource shown(const gateway::Source& source);
// Adds it, or its tenant to the source that is there.
void show(const gateway::Source& source, std::vector<ServedSource>& among);

}  // namespace hapax::admin
