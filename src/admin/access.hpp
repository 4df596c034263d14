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
  // `token` is the admin token and not empty; only hashes are kept. `names` are the accepted Host
  // names, besides "localhost" and every IP address.
  Access(std::string_view token, std::vector<std::string> names,
         const std::vector<ScopedToken>& scoped = {});

  // Prevents DNS rebinding: a hostile web page can make its own name resolve to this machine and
  // read the responses, but the browser still sends that name. host_unknown, or nullopt.
  std::optional<http::Refusal> check_host(const http::Head& head) const;
  // The caller's rights, from "Authorization: Bearer TOKEN", valid as long as this object; or
  // token_missing or token_invalid. The time it takes does not reveal which token matched, or how
  // much of one.
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
