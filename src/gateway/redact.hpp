// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/source.hpp"
#include "store/node.hpp"
#include "store/rejects.hpp"

#include <string>
#include <string_view>
#include <vector>

// Token and basic schemes send the secret itself. It is not stored: a reject keeps its HMAC under a
// key of the store, which can be compared later with that of each configured secret.
namespace hapax::gateway {

inline constexpr std::string_view kRedacted = "<redacted>";

struct Redacted {
  std::string headers;  // encode_headers()
  std::string body;
  std::string proof;  // empty: nothing was redacted, or it cannot be compared
};

Redacted redact(const Source& source, const Request& request, const store::StoreSecret& key);
// For one item of a request that was verified as a whole. The item cannot be verified on its own,
// so the proof records that it was verified.
Redacted redact_item(const Source& source, const Request& request, std::string_view item,
                     const store::StoreSecret& key);

struct Restored {
  std::vector<OwnedHeader> headers;
  std::string body;
};

// Reverses redact() if the proof matches a configured secret; otherwise the text stays redacted.
// Returns nullopt if the stored headers are malformed.
std::optional<Restored> restore(const Source& source, const store::StoredReject& stored,
                                const store::StoreSecret& key);
// True if `stored` is a result of redact_item().
bool is_item(const Source& source, const store::StoredReject& stored,
             const store::StoreSecret& key);

}  // namespace hapax::gateway
