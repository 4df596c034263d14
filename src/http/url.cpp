// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "http/url.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace hapax::http {

namespace {

constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kTlsPort = 443;

Error no_url(std::string_view text, std::string_view why) {
  return Error(Code::invalid_argument, "'" + std::string(text) + "' " + std::string(why) +
                                           "; use http://127.0.0.1:8420/in/demo, or https://...");
}

}  // namespace

std::string Url::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  const bool usual = port == (tls ? kTlsPort : kPlainPort);
  return (v6 ? "[" + host + "]" : host) + (usual ? "" : ":" + std::to_string(port));
}

std::string Url::to_string() const {
  return (tls ? "https://" : "http://") + authority() + target;
}

Result<Url> parse_url(std::string_view text) {
  const auto parsed = boost::urls::parse_uri({text.data(), text.size()});
  if (!parsed) return no_url(text, "is not a URL");
  const boost::urls::url_view& view = *parsed;
  Url url;
  url.tls = view.scheme_id() == boost::urls::scheme::https;
  if (!url.tls && view.scheme_id() != boost::urls::scheme::http) {
    return no_url(text, "is neither http nor https");
  }
  if (view.has_userinfo()) return no_url(text, "contains user info, which is not supported");
  url.host = view.host_address();
  if (url.host.empty()) return no_url(text, "has no host");
  if (view.has_port() && view.port_number() == 0) return no_url(text, "has an invalid port");
  url.port = view.has_port() ? view.port_number() : (url.tls ? kTlsPort : kPlainPort);
  const auto target = view.encoded_target();
  url.target.assign(target.data(), target.size());
  if (url.target.empty() || url.target.front() != '/') url.target.insert(0, 1, '/');
  return url;
}

}  // namespace hapax::http
