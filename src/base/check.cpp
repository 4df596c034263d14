// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace hapax {

void check_failed(const char* what, const char* detail, const char* file, int line) noexcept {
  std::fprintf(stderr, "hapax: check failed: %s: %s (%s:%d)\n", what, detail, file, line);
  std::abort();
}

}  // namespace hapax
