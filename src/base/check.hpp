// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

namespace hapax {

[[noreturn]] void check_failed(const char* what, const char* detail, const char* file,
                               int line) noexcept;

}  // namespace hapax

// For conditions that only a bug in hapax or in its caller can break; never for input. Enabled in
// every build: stopping is better than continuing and risking a duplicate effect.
#define HAPAX_CHECK(condition)            \
  (static_cast<bool>(condition) ? void(0) \
                                : ::hapax::check_failed(#condition, "", __FILE__, __LINE__))
