// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/destination.hpp"
#include "gateway/source.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  struct Secrets {
    std::string tenant;  // empty: of the source itself
    std::size_t count = 0;
    std::shared_ptr<const gateway::SecretUse> use;
  };
  std::vector<Secrets> secrets = {};
};

struct ServedDestination {
  std::string name;
  std::string kind;  // "http" or "pull"
  DestinationNo no{};
  std::optional<std::int64_t> concurrency = {};  // of http
  std::optional<double> rate = {};               // attempts per second
  std::shared_ptr<const deliver::Destination> how = {};
  bool listen = false;  // a developer's machine: the configuration does not know it
};

// How a destination that hapax posts to is doing on this node.
struct Standing {
  std::string breaker;  // "closed", "open", "half-open"
  std::size_t under_way = 0;
};
// Nothing for those it does not post to. Called by any thread.
using HowItStands = std::function<std::optional<Standing>(const std::string& name)>;

// What the configuration in force defines.
struct Served {
  std::vector<ServedSource> sources;
  std::vector<ServedDestination> destinations;

  const ServedDestination* find(std::string_view destination) const;  // null: it has none
  const ServedDestination* find(DestinationNo destination) const;
};

// Says what is served now; never null. Called by every I/O thread.
using WhatIsServed = std::function<std::shared_ptr<const Served>()>;

ServedSource shown(const gateway::Source& source);
// Adds it, or its tenant to the source that is there.
void show(const gateway::Source& source, std::vector<ServedSource>& among);

}  // namespace hapax::admin
