// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <deque>

// The [[source]]s of a configuration.
namespace hapax::daemon {

// What the rest of the file says that a source depends on.
struct Surroundings {
  std::size_t max_body = 0;
  bool has_public_url = false;
  std::vector<std::string> destinations;
};

// Nothing when a problem was reported.
std::optional<gateway::Source> read_source(const Node& table, const Surroundings& around,
                                           Loading& loading);

// verify = { scheme = ... }. The scheme's texts are in the tree or in `kept`, which must outlive
// it.
std::optional<Scheme> read_verify(const Node& table, std::deque<std::string>& kept, Report& report);

}  // namespace hapax::daemon
