// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/verify.hpp>

#include "deliver/destination.hpp"
#include "store/batch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The request of a delivery: the sender's request, so existing handlers work unchanged, plus
// hapax's own headers.
namespace hapax::deliver {

// An object fetched to replace the event's own body.
struct Fetched {
  std::string content_type;      // empty: no such header
  std::string content_encoding;  // likewise
  std::string body;
};

// Holds views into the delivery and the fetched object, which must outlive it. Movable.
struct OutgoingDelivery {
  std::vector<OwnedHeader> added;
  std::vector<Header> headers;  // all headers of the request
  std::string_view body;
};

// Whether a sender's header is forwarded: hapax does not set it, and it is not hop-by-hop. Names
// are compared as handlers may see them: Idempotency_Key equals Idempotency-Key.
bool goes_on(std::string_view name);

// The stored headers of an event that are forwarded to a pull worker: as outgoing() without a
// secret or a fetched object. Views into `stored`.
std::vector<Header> senders_headers(std::string_view stored);

// Forwards the sender's headers except Hapax-*, Idempotency-Key, Host, Content-Length, Expect,
// hop-by-hop headers (also those that Connection names), <redacted> values and invalid headers.
// With a secret, webhook-id, -timestamp and -signature are replaced. With `fetched`, headers that
// describe the original body are dropped.
//
// `source` is the name of the source; `now` is the time of the signature.
OutgoingDelivery outgoing(const Destination& to, const store::Leased& what, std::string_view source,
                          WallTime now, const Fetched* fetched = nullptr);

// Encodes an id or tenant, which may contain any bytes, for a header: '%' and everything but
// visible ASCII becomes %XX.
std::string header_text(std::string_view text);

// The signature of Standard Webhooks ("v1,..."): HMAC-SHA256 over "id.timestamp.body". A secret
// "whsec_..." is the base64 of the key; any other secret is the key itself.
std::string webhook_signature(std::string_view secret, std::string_view id,
                              std::string_view timestamp, std::string_view body);

}  // namespace hapax::deliver
