// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "admin/api/call.hpp"
#include "http/message.hpp"

#include <string_view>

// The handlers of the routes. They depend only on the request and the store; those that use the
// store block. /v1/openapi.json describes the responses.
namespace hapax::admin {

Handler list_events;                                               // api/events.cpp
Handler show_event;                                                // api/event.cpp
Handler send_body;                                                 // api/body.cpp
Handler list_sources;                                              // api/sources.cpp
Handler show_handshake, open_handshake;                            // api/handshake.cpp
Handler list_destinations, pause_destination, resume_destination;  // api/destinations.cpp
Handler show_stats;                                                // api/stats.cpp
Handler list_rejects;                                              // api/rejects.cpp
Handler show_reject, send_reject_body;                             // api/reject.cpp
Handler admit_reject, admit_rejects;                               // api/admit.cpp
Handler replay_event, cancel_delivery;                             // api/replay.cpp
Handler begin_replay, list_replays, show_replay, cancel_replay;    // api/replays.cpp
Handler register_listener, end_listener;                           // api/listen.cpp
Handler claim_id;                                                  // api/dedup.cpp
Handler show_openapi;                                              // api/openapi.cpp
Handler show_health, show_readiness;                               // api/health.cpp
Handler show_metrics;                                              // api/metrics.cpp

// Asynchronous handlers: api/async_handler.hpp.
struct AsyncHandler;
extern const AsyncHandler kLeaseDeliveries;   // api/lease.cpp
extern const AsyncHandler kSettleDeliveries;  // api/settle.cpp
extern const AsyncHandler kRenewLeases;

std::string_view openapi_document();  // src/admin/openapi.json

}  // namespace hapax::admin
