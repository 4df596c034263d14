// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/rights.hpp"
#include "base/sha256.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hapax::admin {

// A [[token]]: narrower rights than those of the admin token.
struct ScopedToken {
  std::string name;
  std::string secret;  // not empty
  std::vector<Grant> allow;

  friend bool operator==(const ScopedToken&, const ScopedToken&) = default;
};

// Access rules. Immutable.
class Access {
 public:
  // `token` is the admin's, and not empty; only hashes are kept. `names` are the Host names that
  // are this server's, besides "localhost" and every IP address.
  Access(std::string_view token, std::vector<std::string> names,
         const std::vector<ScopedToken>& scoped = {});

  // A web page of a stranger can have its own name resolve to this machine and then read the
  // answers as its own; but the browser still sends that name. host_unknown, or nothing.
  std::optional<http::Refusal> check_host(const http::Head& head) const;
  // By "Authorization: Bearer TOKEN": the caller's rights, valid as long as this object, or
  // token_missing or token_invalid. How long it takes does not tell which token it is, or how much
  // of it is right.
  std::variant<const Rights*, http::Refusal> caller(const http::Head& head) const;

 private:
  struct Token {
    Digest hash;
    Rights rights;
  };
  std::vector<Token> tokens_;
  std::vector<std::string> names_;
};

}  // namespace hapax::admin
