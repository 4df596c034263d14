// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/server.hpp"

namespace hapax::test {

// Longer than any machine needs.
inline constexpr std::chrono::minutes kGenerous{10};

// For a server: a time-out that is not the subject of a test never expires in it.
inline http::Limits generous_limits() {
  http::Limits limits;
  limits.idle = kGenerous;
  limits.head_time = kGenerous;
  limits.request_time = kGenerous;
  limits.write_time = kGenerous;
  return limits;
}

}  // namespace hapax::test
