// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

namespace hapax {

// Independent of the locale.
constexpr bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

}  // namespace hapax
