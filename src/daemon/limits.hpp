// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "http/server.hpp"

namespace hapax::daemon {

// Raises the soft limit on open files to the hard limit. Returns the new limit.
std::size_t raise_descriptor_limit();

// The distribution of file descriptors: connections never use those that the store needs.
struct DescriptorBudget {
  http::Limits listen;
  http::Limits admin;
};
DescriptorBudget descriptor_budget(const ServerLimits& wanted, std::size_t open_files,
                                   std::size_t outgoing = 0);
// Maximum number of open connections to destinations.
std::size_t outgoing_of(const std::vector<deliver::Destination>& destinations);

}  // namespace hapax::daemon
