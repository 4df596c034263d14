// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace hapax {

// Returns nullopt if the variable is not set.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace hapax
