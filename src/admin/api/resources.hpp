// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "http/message.hpp"

#include <string_view>

// The handlers of the routes. They depend only on the request and the store; those that use the
// store block. An error becomes failure() of it. /v1/openapi.json describes the responses.
namespace hapax::admin {

Result<http::Reply> list_events(const ApiContext& context, const Call& call);   // api/events.cpp
Result<http::Reply> show_event(const ApiContext& context, const Call& call);    // api/event.cpp
Result<http::Reply> send_body(const ApiContext& context, const Call& call);     // api/body.cpp
Result<http::Reply> list_sources(const ApiContext& context, const Call& call);  // api/sources.cpp
Result<http::Reply> show_handshake(const ApiContext& context,
                                   const Call& call);  // api/handshake.cpp
Result<http::Reply> open_handshake(const ApiContext& context, const Call& call);
Result<http::Reply> list_destinations(const ApiContext& context,
                                      const Call& call);  // api/destinations.cpp
Result<http::Reply> pause_destination(const ApiContext& context, const Call& call);
Result<http::Reply> resume_destination(const ApiContext& context, const Call& call);
Result<http::Reply> show_stats(const ApiContext& context, const Call& call);    // api/stats.cpp
Result<http::Reply> list_rejects(const ApiContext& context, const Call& call);  // api/rejects.cpp
Result<http::Reply> show_reject(const ApiContext& context, const Call& call);   // api/reject.cpp
Result<http::Reply> send_reject_body(const ApiContext& context, const Call& call);
Result<http::Reply> admit_reject(const ApiContext& context, const Call& call);  // api/admit.cpp
Result<http::Reply> admit_rejects(const ApiContext& context, const Call& call);
Result<http::Reply> replay_event(const ApiContext& context, const Call& call);  // api/replay.cpp
Result<http::Reply> cancel_delivery(const ApiContext& context, const Call& call);
Result<http::Reply> begin_replay(const ApiContext& context, const Call& call);  // api/replays.cpp
Result<http::Reply> list_replays(const ApiContext& context, const Call& call);
Result<http::Reply> show_replay(const ApiContext& context, const Call& call);
Result<http::Reply> cancel_replay(const ApiContext& context, const Call& call);
Result<http::Reply> register_listener(const ApiContext& context,
                                      const Call& call);  // api/listen.cpp
Result<http::Reply> end_listener(const ApiContext& context, const Call& call);
Result<http::Reply> claim_id(const ApiContext& context, const Call& call);      // api/dedup.cpp
Result<http::Reply> show_openapi(const ApiContext& context, const Call& call);  // api/openapi.cpp
Result<http::Reply> show_health(const ApiContext& context, const Call& call);   // api/health.cpp
Result<http::Reply> show_readiness(const ApiContext& context, const Call& call);
Result<http::Reply> show_metrics(const ApiContext& context, const Call& call);  // api/metrics.cpp

// Asynchronous handlers: api/async_handler.hpp.
struct AsyncHandler;
extern const AsyncHandler kLeaseDeliveries;   // api/lease.cpp
extern const AsyncHandler kSettleDeliveries;  // api/settle.cpp
extern const AsyncHandler kRenewLeases;

std::string_view openapi_document();  // src/admin/openapi.json

}  // namespace hapax::admin
