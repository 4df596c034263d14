// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hapax {

inline constexpr std::size_t kMaxChallenge = 1024;  // longer challenges are not echoed

// The response to a provider's handshake.
struct HandshakeAnswer {
  int status = 200;
  std::string content_type;  // empty: no body
  std::string body;
  std::vector<OwnedHeader> headers;
  // The secret that the provider sends in its handshake (Asana, Notion). The caller decides whether
  // to accept it and must not store it otherwise.
  std::string secret;
  // Amazon SNS: GET this URL to subscribe. It is verified to be a URL of Amazon SNS.
  std::string confirm_url;
};

// Returns the response if `request` is a handshake of `preset`, nullopt if it is an ordinary
// request. A signed handshake must be authentic; otherwise nullopt is returned and normal
// verification rejects the request. Meta's verify token is the parameter "verify_token" of
// `context`.
HAPAX_API std::optional<HandshakeAnswer> answer_handshake(const Preset& preset,
                                                          std::span<const std::string> secrets,
                                                          const Request& request, WallTime now,
                                                          const Context& context = {});

}  // namespace hapax
