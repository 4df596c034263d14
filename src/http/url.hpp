// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::http {

// Where a request goes: "https://example.com:8443/hooks?x=1", taken apart.
struct Url {
  bool tls = false;
  std::string host;          // a name or an address; of IPv6 without the brackets
  std::uint16_t port = 80;   // 443 with TLS, where the URL has none
  std::string target = "/";  // path and query, as written

  std::string authority() const;  // of the Host header: the port only where it is not the usual one
  std::string to_string() const;

  friend bool operator==(const Url&, const Url&) = default;
};

// invalid_argument: not an http or https URL, or one with a user, which belongs into a header.
Result<Url> parse_url(std::string_view text);

}  // namespace hapax::http
