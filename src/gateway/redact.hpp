// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "gateway/source.hpp"
#include "store/inbox.hpp"

#include <string>
#include <string_view>
#include <vector>

// A token or basic scheme sends the secret itself. What was sent is not stored: a reject keeps its
// HMAC under a key of the store, which can be compared with that of each configured secret later.
namespace hapax::gateway {

inline constexpr std::string_view kRedacted = "<redacted>";

struct Redacted {
  std::string headers;  // encode_headers()
  std::string body;
  std::string proof;  // empty: nothing was redacted, or it cannot be compared
};

Redacted redact(const Source& source, const Request& request, const store::StoreSecret& key);
// One item of a request that was verified as a whole, and that cannot be verified on its own: the
// proof says that it was.
Redacted redact_item(const Source& source, const Request& request, std::string_view item,
                     const store::StoreSecret& key);

struct Restored {
  std::vector<OwnedHeader> headers;
  std::string body;
};

// What redact() was given, if the proof is that of a configured secret; otherwise what it gave.
// Nothing when the headers are not what it gave.
std::optional<Restored> restore(const Source& source, const store::StoredReject& stored,
                                const store::StoreSecret& key);
// Whether it is an item, as redact_item() gave it.
bool is_item(const Source& source, const store::StoredReject& stored,
             const store::StoreSecret& key);

}  // namespace hapax::gateway
