// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "daemon/config_values.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hapax::daemon {

// A bearer token, written as a secret is.
std::optional<std::string> read_token(const Node& node, Loading& loading);

// What a [[token]] is checked against.
struct AroundTokens {
  std::optional<std::string> admin_token;  // nothing: made at the start
  std::vector<std::string> destinations;   // all names, also of those with problems
};

// Into config.tokens; a table whose name has a problem has none in `name`.
void read_token_table(const Node& table, const std::optional<std::string>& name,
                      const AroundTokens& around, Config& config, Loading& loading);

}  // namespace hapax::daemon
