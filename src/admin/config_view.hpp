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

// A source as the admin API shows it: without secrets and verification details.
struct SourceView {
  std::string name;
  SourceNo no{};
  std::string preset = {};  // empty: custom signature settings
  // As in Preset; nullopt without a preset.
  std::optional<bool> id_signed = {};
  std::optional<bool> time_signed = {};
  bool splits = false;
  bool enforce = true;
  bool unnamed = true;                    // accepts requests without a tenant
  std::vector<std::string> tenants = {};  // declared ones
  std::vector<std::string> deliver_to = {};
  std::chrono::milliseconds remember{};
  std::chrono::milliseconds keep{};
  std::chrono::milliseconds keep_dead{};
  struct Secrets {
    std::string tenant;  // empty: the source itself
    std::size_t count = 0;
    std::shared_ptr<const gateway::SecretUse> use;
  };
  std::vector<Secrets> secrets = {};
};

struct DestinationView {
  std::string name;
  std::string kind;  // "http" or "pull"
  DestinationNo no{};
  std::optional<std::int64_t> concurrency = {};  // only for http
  std::optional<double> rate = {};               // attempts per second
  std::shared_ptr<const deliver::Destination> how = {};
  bool listen = false;  // registered by `hapax listen`, not configured
};

// The state of a push destination on this node.
struct DestinationStatus {
  std::string breaker;  // "closed", "open", "half-open"
  std::size_t under_way = 0;
};
// nullopt: not a push destination. Called by any thread.
using StatusFn = std::function<std::optional<DestinationStatus>(const std::string& name)>;

// The current configuration, as the admin API shows it.
struct ConfigView {
  std::vector<SourceView> sources;
  std::vector<DestinationView> destinations;

  const DestinationView* find(std::string_view destination) const;  // null: not found
  const DestinationView* find(DestinationNo destination) const;
};

// Returns the current view; never null. Called by every I/O thread.
using ConfigFn = std::function<std::shared_ptr<const ConfigView>()>;

SourceView source_view(const gateway::Source& source);
// Adds the source, or only its tenant and secrets if the source is present.
void add_source_view(const gateway::Source& source, std::vector<SourceView>& among);

}  // namespace hapax::admin
