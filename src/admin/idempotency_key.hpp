// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/message.hpp"

#include <optional>
#include <string>

namespace hapax::admin {

// The Idempotency-Key of a request: 1 to 255 visible ASCII characters, unquoted (then without '"',
// ',' and ';') or as an RFC 8941 string, whose parameters are ignored. Both forms are the same key.
struct IdempotencyKey {
  std::optional<std::string> value = {};
  bool malformed = false;  // or given more than once
};

IdempotencyKey idempotency_key(const http::Head& head);

}  // namespace hapax::admin
