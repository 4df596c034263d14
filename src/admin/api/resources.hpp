// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "http/message.hpp"

#include <string_view>

// What each route answers. Functions of the request and the store alone; those that ask the store
// block. The document at /v1/openapi.json says what is in the answers.
namespace hapax::admin {

http::Reply list_events(const Context& context, const Call& call);     // api/events.cpp
http::Reply show_event(const Context& context, const Call& call);      // api/event.cpp
http::Reply send_body(const Context& context, const Call& call);       // api/body.cpp
http::Reply list_sources(const Context& context, const Call& call);    // api/sources.cpp
http::Reply show_handshake(const Context& context, const Call& call);  // api/handshake.cpp
http::Reply open_handshake(const Context& context, const Call& call);
http::Reply list_destinations(const Context& context, const Call& call);  // api/destinations.cpp
http::Reply pause_destination(const Context& context, const Call& call);
http::Reply resume_destination(const Context& context, const Call& call);
http::Reply show_stats(const Context& context, const Call& call);    // api/stats.cpp
http::Reply list_rejects(const Context& context, const Call& call);  // api/rejects.cpp
http::Reply show_reject(const Context& context, const Call& call);   // api/reject.cpp
http::Reply send_reject_body(const Context& context, const Call& call);
http::Reply admit_reject(const Context& context, const Call& call);  // api/admit.cpp
http::Reply admit_rejects(const Context& context, const Call& call);
http::Reply replay_event(const Context& context, const Call& call);  // api/replay.cpp
http::Reply cancel_delivery(const Context& context, const Call& call);
http::Reply begin_replay(const Context& context, const Call& call);  // api/replays.cpp
http::Reply list_replays(const Context& context, const Call& call);
http::Reply show_replay(const Context& context, const Call& call);
http::Reply cancel_replay(const Context& context, const Call& call);
http::Reply register_listener(const Context& context, const Call& call);  // api/listen.cpp
http::Reply end_listener(const Context& context, const Call& call);
http::Reply claim_id(const Context& context, const Call& call);      // api/dedup.cpp
http::Reply show_openapi(const Context& context, const Call& call);  // api/openapi.cpp
http::Reply show_health(const Context& context, const Call& call);   // api/health.cpp
http::Reply show_readiness(const Context& context, const Call& call);
http::Reply show_metrics(const Context& context, const Call& call);  // api/metrics.cpp

// Those that wait: api/waiting.hpp.
struct Waiting;
extern const Waiting kLeaseDeliveries;   // api/lease.cpp
extern const Waiting kSettleDeliveries;  // api/settle.cpp
extern const Waiting kRenewLeases;

std::string_view openapi_document();  // src/admin/openapi.json

}  // namespace hapax::admin
