// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <string>
#include <string_view>

namespace hapax::deliver {

// A replay request with an Idempotency-Key. It takes effect once, however often and to whichever
// node it is sent.
struct RequestKey {
  ReplayNo no;          // from the route and the key: the same on every node
  std::string request;  // digest of the whole request
};

// `argument` and `body` are those of the request, byte for byte.
RequestKey request_key(std::string_view route, std::string_view key, std::string_view argument,
                       std::string_view body);

}  // namespace hapax::deliver
