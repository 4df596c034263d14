// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "admin/access.hpp"

#include "base/check.hpp"
#include "model/field.hpp"
#include "verify/hmac.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hapax::admin {

namespace {

using http::Refusal;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_address(int family, std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return inet_pton(family, std::string(text).c_str(), ignored.data()) == 1;
}

// The host of a Host header without the port; an IPv6 address keeps its brackets. nullopt:
// malformed.
std::optional<std::string_view> host_in(std::string_view value) {
  const bool bracketed = value.substr(0, 1) == "[";
  const std::size_t from = bracketed ? value.find(']') : 0;
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t colon = value.find(':', from);
  if (colon != std::string_view::npos && !all_digits(value.substr(colon + 1))) return std::nullopt;
  return value.substr(0, colon);
}

bool is_literal(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return is_address(AF_INET6, host.substr(1, host.size() - 2));
  }
  return is_address(AF_INET, host);
}

// The token of an Authorization header; nullopt if the scheme is not Bearer.
std::optional<std::string_view> bearer(std::string_view value) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const std::size_t begin = value.find_first_not_of(' ', kScheme.size());
  return begin == std::string_view::npos ? std::string_view() : value.substr(begin);
}

}  // namespace

Access::Access(std::string_view token, std::vector<std::string> names,
               const std::vector<ScopedToken>& scoped)
    : names_(std::move(names)) {
  HAPAX_CHECK(!token.empty());
  names_.emplace_back("localhost");
  tokens_.push_back({sha256(token), Rights()});
  for (const ScopedToken& each : scoped) {
    HAPAX_CHECK(!each.secret.empty());
    tokens_.push_back({sha256(each.secret), Rights(each.allow)});
  }
}

std::optional<Refusal> Access::check_host(const http::Head& head) const {
  const Header* header = head.find("Host");
  if (header == nullptr) return Refusal::host_unknown;
  std::optional<std::string_view> host = host_in(header->value);
  if (!host || host->empty()) return Refusal::host_unknown;
  if (is_literal(*host)) return std::nullopt;
  if (host->back() == '.') host->remove_suffix(1);
  const bool known = std::any_of(names_.begin(), names_.end(), [&](const std::string& each) {
    return equal_ignoring_case(each, *host);
  });
  return known ? std::nullopt : std::optional(Refusal::host_unknown);
}

std::variant<const Rights*, Refusal> Access::caller(const http::Head& head) const {
  const auto is_ours = [](const Header& each) {
    return equal_ignoring_case(each.name, "Authorization");
  };
  const auto count = std::count_if(head.headers.begin(), head.headers.end(), is_ours);
  if (count > 1) return Refusal::token_invalid;  // ambiguous
  const Header* header = head.find("Authorization");
  const auto token = header == nullptr ? std::nullopt : bearer(header->value);
  if (!token || token->empty()) return Refusal::token_missing;
  const Digest hash = sha256(*token);
  const Rights* found = nullptr;
  for (const Token& each : tokens_) {  // no early exit: constant time
    const bool same = verify_detail::equal_in_constant_time(view(hash), view(each.hash));
    found = same ? &each.rights : found;
  }
  if (found == nullptr) return Refusal::token_invalid;
  return found;
}

}  // namespace hapax::admin
