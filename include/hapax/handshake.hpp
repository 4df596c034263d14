// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/verify.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hapax {

inline constexpr std::size_t kMaxChallenge = 1024;  // a longer one is not echoed

// What a provider wants to hear before it sends events.
struct HandshakeAnswer {
  int status = 200;
  std::string content_type;  // empty: no body
  std::string body;
  std::vector<OwnedHeader> headers;
  // Asana and Notion hand over the secret in their handshake. It is the caller's to decide whether
  // now is the time to take one; without it, nothing may be stored.
  std::string secret;
  // Amazon SNS: GET this URL to subscribe. It is known to be Amazon's.
  std::string confirm_url;
};

// The answer, when `request` is a handshake of `preset`; nothing when it is an ordinary request.
// Where the provider signs its handshake it must be authentic, otherwise nothing comes back and the
// ordinary way refuses it. Meta's verify token is the parameter "verify_token" of `context`.
HAPAX_API std::optional<HandshakeAnswer> answer_handshake(const Preset& preset,
                                                          std::span<const std::string> secrets,
                                                          const Request& request, WallTime now,
                                                          const Context& context = {});

}  // namespace hapax
