// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>
#include <hapax/request.hpp>
#include <hapax/verify.hpp>

#include "deliver/destination.hpp"
#include "store/inbox_queue.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The request of a delivery: the sender's request, so existing handlers work unchanged, plus
// hapax's own headers.
namespace hapax::deliver {

// An object fetched to replace the event's own body.
struct Fetched {
  std::string content_type;      // empty: it did not say
  std::string content_encoding;  // likewise
  std::string body;
};

// Views into the delivery and what was fetched, which must outlive it. It can be moved.
struct OutgoingDelivery {
  std::vector<OwnedHeader> added;
  std::vector<Header> headers;  // all that go out
  std::string_view body;
};

// Whether a sender's header may go on: it is neither ours to say nor for one connection only. Names
// are compared as handlers may see them, so that Idempotency_Key is Idempotency-Key.
bool goes_on(std::string_view name);

// What of an event's stored headers goes to a handler that brings its own connection: as below,
// with neither a secret nor anything fetched. Views into them.
std::vector<Header> senders_headers(std::string_view stored);

// Of the sender's headers go: Hapax-*, Idempotency-Key, Host, Content-Length, Expect, those that
// are for one connection only (and those that Connection names), what stands as <redacted>, and
// what cannot stand in a header at all; with a secret also webhook-id, -timestamp and -signature,
// as ours take their place. With `fetched` also what was said about the bytes it replaces.
//
// `source` is the source's name; `now` the time of the signature.
OutgoingDelivery outgoing(const Destination& to, const store::Leased& what, std::string_view source,
                          WallTime now, const Fetched* fetched = nullptr);

// Ids and tenants have any bytes, headers do not: all but visible ASCII, and '%' itself, as %XX.
std::string header_text(std::string_view text);

// The signature of Standard Webhooks ("v1,..."): HMAC-SHA256 over "id.timestamp.body". A secret
// "whsec_..." is base64 of the key, any other is the key itself.
std::string webhook_signature(std::string_view secret, std::string_view id,
                              std::string_view timestamp, std::string_view body);

}  // namespace hapax::deliver
