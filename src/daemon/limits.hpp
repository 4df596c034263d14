// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config.hpp"
#include "http/server.hpp"

namespace hapax::daemon {

// Raises the limit on open files to what this process may have at most, and says what that is.
std::size_t raise_descriptor_limit();

// How the open files are shared out: callers never get those that the store needs.
struct DescriptorBudget {
  http::Limits listen;
  http::Limits admin;
};
DescriptorBudget descriptor_budget(const ServerLimits& wanted, std::size_t open_files,
                                   std::size_t outgoing = 0);
// Connections to destinations that may be open at a time.
std::size_t outgoing_of(const std::vector<deliver::Destination>& destinations);

}  // namespace hapax::daemon
