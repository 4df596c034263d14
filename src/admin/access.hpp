// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::admin {

// Who may ask. Immutable.
class Access {
 public:
  // `token` is not empty; only its hash is kept. `names` are the Host names that are this server's,
  // besides "localhost" and every IP address.
  Access(std::string_view token, std::vector<std::string> names);

  // A web page of a stranger can have its own name resolve to this machine and then read the
  // answers as its own; but the browser still sends that name. host_unknown, or nothing.
  std::optional<http::Refusal> check_host(const http::Head& head) const;
  // "Authorization: Bearer TOKEN". token_missing, token_invalid, or nothing.
  std::optional<http::Refusal> check_token(const http::Head& head) const;

 private:
  Digest token_;
  std::vector<std::string> names_;
};

}  // namespace hapax::admin
