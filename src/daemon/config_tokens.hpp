// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hapax::daemon {

// Reads a bearer token, which is written like a secret.
std::optional<std::string> read_token(const Node& node, Loading& loading);

// Settings that a [[token]] is checked against.
struct AroundTokens {
  std::optional<std::string> admin_token;  // nullopt: generated at start
  std::vector<std::string> destinations;   // all names, also of invalid ones
};

// Adds a token to config.tokens. `name` is nullopt if the name of the table is invalid.
void read_token_table(const Node& table, const std::optional<std::string>& name,
                      const AroundTokens& around, Config& config, Loading& loading);

}  // namespace hapax::daemon
