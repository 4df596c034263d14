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
struct SourceView {
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

struct DestinationView {
  std::string name;
  std::string kind;  // "http" or "pull"
  DestinationNo no{};
  std::optional<std::int64_t> concurrency = {};  // of http
  std::optional<double> rate = {};               // attempts per second
  std::shared_ptr<const deliver::Destination> how = {};
  bool listen = false;  // a developer's machine: the configuration does not know it
};

// How a destination that hapax posts to is doing on this node.
struct DestinationStatus {
  std::string breaker;  // "closed", "open", "half-open"
  std::size_t under_way = 0;
};
// Nothing for those it does not post to. Called by any thread.
using StatusFn = std::function<std::optional<DestinationStatus>(const std::string& name)>;

// What the configuration in force defines.
struct ConfigView {
  std::vector<SourceView> sources;
  std::vector<DestinationView> destinations;

  const DestinationView* find(std::string_view destination) const;  // null: it has none
  const DestinationView* find(DestinationNo destination) const;
};

// Says what is served now; never null. Called by every I/O thread.
using ConfigFn = std::function<std::shared_ptr<const ConfigView>()>;

SourceView source_view(const gateway::Source& source);
// Adds it, or its tenant to the source that is there.
void add_source_view(const gateway::Source& source, std::vector<SourceView>& among);

}  // namespace hapax::admin
