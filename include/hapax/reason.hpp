// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <cstdint>
#include <string_view>

namespace hapax {

// Why a request is rejected. The same name is used in problem documents, logs, metrics and the
// output of `hapax verify`.
enum class Reason : std::uint8_t {
  none,                      // nothing is wrong
  signature_missing,         // no signature, or a part that the scheme needs is missing
  signature_invalid,         // the signature does not match the request for any secret
  timestamp_outside_window,  // correctly signed, but too old or too far in the future
  header_malformed,          // a header that the scheme reads is repeated or malformed
  payload_unreadable,        // the body does not have the format of the scheme or identity rule
  id_missing,                // no event id
  id_ambiguous,              // two event ids
  body_too_large,            // more items than the source accepts
};

// "signature-missing" and so on; "" for none.
HAPAX_API std::string_view name(Reason reason) noexcept;
// The HTTP status of the response to a rejected request; 200 for none.
HAPAX_API int http_status(Reason reason) noexcept;

}  // namespace hapax
