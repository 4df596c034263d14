// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/message.hpp"

#include <string_view>

namespace hapax::http {

// What hapax refuses with, besides the reasons of verification (hapax/reason.hpp) and the codes of
// errors (hapax/error.hpp). Names are stable: programs compare them.
enum class Refusal : std::uint8_t {
  framing,             // 400: where the request ends is not beyond doubt
  header_malformed,    // 400
  bad_request,         // 400: a parameter that cannot be understood
  key_malformed,       // 400: the Idempotency-Key
  token_missing,       // 401
  token_invalid,       // 401
  forbidden,           // 403: the token has not the right
  not_found,           // 404
  source_unknown,      // 404
  tenant_unknown,      // 404
  method_not_allowed,  // 405
  request_timeout,     // 408
  body_gone,           // 410
  body_too_large,      // 413
  host_unknown,        // 421
  key_reused,          // 422: the Idempotency-Key came with another request
  headers_too_large,   // 431
  store_unavailable,   // 503
  queue_full,          // 503
  stopping,            // 503
};

std::string_view name(Refusal refusal);
int status_of(Refusal refusal);

// application/problem+json, RFC 9457, with "urn:hapax:error:NAME" as the type. `detail` is for the
// one who sent the request: what to do, never what a secret or a signature should have been.
Reply problem(int status, std::string_view name, std::string_view detail);
// With the sentence that belongs to it; 503 with Retry-After.
Reply problem(Refusal refusal);
Reply problem(Refusal refusal, std::string_view detail);

}  // namespace hapax::http
