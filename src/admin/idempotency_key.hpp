// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/message.hpp"

#include <optional>
#include <string>

namespace hapax::admin {

// The Idempotency-Key of a request: 1 to 255 visible ASCII characters, as they are (then without
// '"', ',' and ';') or as a string of RFC 8941, whose parameters are passed over. Both spellings
// are the same key.
struct IdempotencyKey {
  std::optional<std::string> value = {};
  bool malformed = false;  // or more than one
};

IdempotencyKey idempotency_key(const http::Head& head);

}  // namespace hapax::admin
