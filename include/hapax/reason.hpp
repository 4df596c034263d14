// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/export.hpp>

#include <cstdint>
#include <string_view>

namespace hapax {

// Why a request is not accepted. One name everywhere: in problem documents, logs, metrics and what
// `hapax verify` prints.
enum class Reason : std::uint8_t {
  none,                      // nothing is wrong
  signature_missing,         // no signature, or a part that the scheme needs is not there
  signature_invalid,         // a signature is there and is not that of these bytes by these secrets
  timestamp_outside_window,  // rightly signed, too long ago or too far in the future
  header_malformed,          // a header that the scheme reads is repeated or cannot be read
  payload_unreadable,        // the body is not what the scheme or the identity rule has to read
  id_missing,                // no event id in it
  id_ambiguous,              // two event ids in it
  body_too_large,            // more items than the source takes
};

// "signature-missing" and so on; "" for none.
HAPAX_API std::string_view name(Reason reason) noexcept;
// The status that a refused request is answered with; 200 for none.
HAPAX_API int http_status(Reason reason) noexcept;

}  // namespace hapax
