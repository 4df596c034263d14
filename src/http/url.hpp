// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hapax::http {

// A parsed URL, like "https://example.com:8443/hooks?x=1".
struct Url {
  bool tls = false;
  std::string host;          // a name or an address; IPv6 without brackets
  std::uint16_t port = 80;   // 443 by default with TLS
  std::string target = "/";  // path and query, as written

  std::string authority() const;  // for the Host header; the port unless it is the default
  std::string to_string() const;

  friend bool operator==(const Url&, const Url&) = default;
};

// Fails with invalid_argument if not an http or https URL, or if it has user info (credentials
// belong in a header).
Result<Url> parse_url(std::string_view text);

}  // namespace hapax::http
