// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/hapax.hpp>

namespace hapax {

std::string_view version() noexcept {
  return HAPAX_VERSION;
}

}  // namespace hapax
