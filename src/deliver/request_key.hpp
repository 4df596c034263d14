// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <string>
#include <string_view>

namespace hapax::deliver {

// A request to replay that came with an Idempotency-Key: what is done by it is done once, however
// often and wherever it is sent.
struct RequestKey {
  ReplayNo no;          // by the route and the key: the same on every node, at any time
  std::string request;  // a digest of all that was asked for
};

// `argument` and `body`: what was asked for, byte for byte.
RequestKey request_key(std::string_view route, std::string_view key, std::string_view argument,
                       std::string_view body);

}  // namespace hapax::deliver
