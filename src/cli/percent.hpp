// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/percent.hpp"

namespace hapax::cli {

// Percent-encodes a component of a URL or form.
inline std::string percent_encoded(std::string_view text) {
  return percent_encoded_but("-_.", text);
}

}  // namespace hapax::cli
