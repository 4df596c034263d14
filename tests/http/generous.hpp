// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/server.hpp"

namespace hapax::test {

// Long enough for any machine.
inline constexpr std::chrono::minutes kGenerous{10};

// Limits of a server in which a timeout that is not under test never expires.
inline http::Limits generous_limits() {
  http::Limits limits;
  limits.idle = kGenerous;
  limits.head_time = kGenerous;
  limits.request_time = kGenerous;
  limits.write_time = kGenerous;
  return limits;
}

}  // namespace hapax::test
