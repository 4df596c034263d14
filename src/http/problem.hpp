// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "http/message.hpp"

#include <string_view>

namespace hapax::http {

// Reasons to reject a request, besides those of verification (hapax/verify.hpp) and the error codes
// (hapax/error.hpp). Names are stable: programs compare them.
enum class Refusal : std::uint8_t {
  framing,             // 400: the request framing is ambiguous
  bad_request,         // 400: an invalid parameter
  key_malformed,       // 400: the Idempotency-Key
  token_missing,       // 401
  token_invalid,       // 401
  forbidden,           // 403: the token lacks the right
  not_found,           // 404
  source_unknown,      // 404
  tenant_unknown,      // 404
  method_not_allowed,  // 405
  request_timeout,     // 408
  body_gone,           // 410
  body_too_large,      // 413
  host_unknown,        // 421
  key_reused,          // 422: the Idempotency-Key was used for another request
  headers_too_large,   // 431
  store_unavailable,   // 503
  queue_full,          // 503
  stopping,            // 503
};

// The Retry-After header of every response with status 503.
OwnedHeader retry_after();

std::string_view name(Refusal refusal);
int status_of(Refusal refusal);

// application/problem+json, RFC 9457, with "urn:hapax:error:NAME" as the type. 503 has Retry-After.
// `detail` is for the sender: it states what to do, never an expected secret or signature.
Reply problem(int status, std::string_view name, std::string_view detail);
// With the default detail.
Reply problem(Refusal refusal);
Reply problem(Refusal refusal, std::string_view detail);

}  // namespace hapax::http
