// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>
#include <hapax/outbox.hpp>
#include <hapax/store.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace hapax::store {

// Limits. Callers validate every item with check() before they pass it to a store.
inline constexpr std::size_t kMaxName = 128;  // of a source or destination: visible ASCII
inline constexpr std::size_t kMaxTenant = 128;
inline constexpr std::size_t kMaxEventId = 4 * kMaxId + 3;        // display form: parts and '/'
inline constexpr std::size_t kMaxIdentityKey = 4 * (kMaxId + 8);  // parts with kind and length
inline constexpr std::size_t kMaxType = 1024;
inline constexpr std::size_t kMaxOrderKey = kMaxId;
inline constexpr std::size_t kMaxBody = kMaxPayload;
inline constexpr std::size_t kMaxStoredHeaders = 2 * kMaxHeaderBytes;  // encoded
inline constexpr std::size_t kMaxArrivals = 10'000;                    // in one request
inline constexpr std::size_t kMaxTargets = 64;                         // of one arrival
inline constexpr std::size_t kMaxLeaseCount = 1000;                    // deliveries in one lease
// Headers and bodies in the answer to one lease request; the last delivery may exceed it.
inline constexpr std::size_t kMaxLeaseBytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxAttemptError = 256;
inline constexpr std::size_t kMaxExcerpt = 1024;
inline constexpr std::size_t kMaxShownAttempts = 100;  // of one event, the latest
inline constexpr std::size_t kMaxVariants = 16;        // changed bodies of one event
inline constexpr std::size_t kMaxRejectText = 1024;    // reason, detail, method, proof: each
inline constexpr std::size_t kMaxUrl = 16 * 1024;
inline constexpr std::size_t kMaxPage = 1000;    // rows of one listing
inline constexpr std::size_t kMaxStep = 10'000;  // rows of one step of retention or replay

// How many deliveries one item (a settlement, a lease request, a cancel, a replay of one event) may
// supersede, so that a backlog of old versions cannot make a transaction long.
inline constexpr unsigned kMaxSuperseded = 64;

// Attempt rows are kept for this long after the last settle of their delivery, regardless of
// `keep`, so that a repeated settle gets the original answer.
inline constexpr std::chrono::milliseconds kKeepAttempts = days;

// stats().last_seen may lag by this much.
inline constexpr std::chrono::milliseconds kSeenSlack = std::chrono::seconds(1);

// The source of events that were outbox messages. No configured source may have this name.
inline constexpr std::string_view kOutboxSource = "outbox";

// invalid_argument: not a valid name of a source or destination.
Result<void> check_name(std::string_view name);

// Rejects a value that is empty or longer than `most`; `what` names it in the error: "an id".
Result<void> check_length(std::string_view what, std::string_view bytes, std::size_t most);

// Checks the limits of a claim: scope, id and ttl.
Result<void> check_claim(std::string_view scope, std::string_view id,
                         std::chrono::milliseconds ttl);

// Checks the limits of an outbox message.
Result<void> check_message(const Message& message);

}  // namespace hapax::store
