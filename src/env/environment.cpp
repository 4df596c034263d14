// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "env/environment.hpp"

#include <cstdlib>

namespace hapax {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace hapax
