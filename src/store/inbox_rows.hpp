// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "model/delivery.hpp"
#include "model/numbers.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Rows read from the inbox, and data recorded about requests. Part of store/inbox.hpp.
namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Reading.

// Whether a numbered object exists.
enum class Presence : std::uint8_t {
  here,
  gone,    // removed by retention, or missing at or below the largest removed number
  absent,  // never existed
};

template <class T>
struct Lookup {
  Presence presence = Presence::absent;
  std::optional<T> value = {};  // when here
};

struct WantedIdentity {
  SourceNo source;
  std::string_view tenant = {};
  std::string_view key = {};
};

struct EventRow {
  EventNo no;
  SourceNo source;
  std::string tenant;
  std::string id;
  std::string type;
  std::string order_key;
  std::optional<std::int64_t> version;
  WallTime received{};
  Digest digest{};
  std::size_t body_size = 0;
  Would would = Would::none;
  DeliveryState status = DeliveryState::completed;  // the worst of its deliveries
  std::uint64_t duplicates = 0;                     // recorded so far
};

struct DeliveryRow {
  DeliveryNo no;
  DestinationNo to;
  DeliveryState state = DeliveryState::pending;
  EndReason reason = EndReason::none;
  std::optional<WallTime> ended;        // when it reached its terminal state
  std::optional<DeliveryNo> replay_of;  // created as new by a replay of that one
  // The following is not kept for a completed delivery.
  unsigned attempts = 0;  // handler failures since it was created or last replayed
  unsigned abandons = 0;
  std::optional<WallTime> due;         // earliest lease time, or end of the lease; unset if waiting
  bool waiting = false;                // pending behind the head of its lane
  bool blocking = false;               // the dead head of a blocked lane
  std::optional<Holder> holder;        // only if leased
  std::optional<WallTime> first_sent;  // when a byte may first have been sent
};

struct Variant {
  Digest digest{};
  WallTime at{};
};

struct EventDetail {
  EventRow row;
  std::string headers;
  std::vector<DeliveryRow> deliveries;  // by number
  std::vector<Attempt> attempts;        // by fence, the last kMaxShownAttempts
  std::vector<Variant> variants;        // in order of arrival
};

enum class BodyOf : std::uint8_t { event, last_variant };

// All fields that are set must match, byte for byte.
struct EventFilter {
  std::optional<SourceNo> source = {};
  std::optional<std::string_view> tenant = {};
  std::optional<std::string_view> id = {};
  std::optional<std::string_view> type = {};
  std::optional<std::string_view> order_key = {};
  std::optional<DeliveryState> status = {};  // EventRow::status
  std::optional<WallTime> since = {};        // received at or after
  std::optional<WallTime> until = {};        // received before
};

inline constexpr EventNo kNewest{std::numeric_limits<std::int64_t>::max()};

struct EventQuery {
  EventFilter filter = {};
  EventNo before = kNewest;  // only smaller numbers
  std::size_t limit = 100;   // 1 to kMaxPage
};

// Newest first. A page may be shorter than `limit`, even empty, without being the last.
struct EventPage {
  std::vector<EventRow> events;
  std::optional<EventNo> next;  // EventQuery::before of the next page; nullopt: the last page
};

// ---------------------------------------------------------------------------------------------
// Duplicates, recorded lazily and in bulk, never before an ack.

struct DuplicateNote {
  EventNo event;  // ignored if it does not exist
  std::uint64_t count = 0;
  // A changed body. The first kMaxVariants digests are stored, each with its first time, and the
  // bytes of the last of them. A known digest, or the event's own, is ignored.
  struct Changed {
    Digest digest{};
    WallTime at{};
    std::string_view body;
  };
  std::optional<Changed> changed = {};
};

// ---------------------------------------------------------------------------------------------
// Rejects: one ring per source.

inline constexpr std::size_t kMaxRejects = 10'000;
inline constexpr std::size_t kMaxRejectBytes = std::size_t{64} * 1024 * 1024;

// Capacity per source. Excess is evicted: first from addresses above a quarter of the limit
// (largest first, oldest first, down to that quarter), then oldest first. The count limit is
// applied before the byte limit.
struct RejectRing {
  std::size_t rejects = kMaxRejects;
  std::size_t bytes = kMaxRejectBytes;  // sum of size_of()
};

struct Reject {
  RejectNo no;  // generated before the call; an existing one is not changed
  SourceNo source;
  std::string_view tenant = {};
  std::string_view reason = {};  // "signature-invalid"
  std::string_view detail = {};
  WallTime received{};  // by the receiver's clock; a later verification uses it
  std::string_view method = {};
  std::string_view url = {};
  std::string_view headers = {};  // encode_headers(), secrets redacted
  std::string_view proof = {};    // an HMAC in place of redacted secrets, for comparison
  std::string_view body = {};
  std::string_view address = {};  // of the sender
};

// The size that counts against RejectRing::bytes.
std::size_t size_of(const Reject& reject);

// Rejects of one source that were not stored because too many arrived at once.
struct DroppedRejects {
  SourceNo source;
  std::uint64_t count = 0;
};

struct RejectBatch {
  std::span<const Reject> rejects = {};
  std::span<const DroppedRejects> dropped = {};
  RejectRing ring = {};
};

struct RejectRow {
  RejectNo no;
  SourceNo source;
  std::string tenant;
  std::string reason;
  std::string detail;
  WallTime received{};
  std::size_t body_size = 0;
  std::string address;
};

struct StoredReject {
  RejectRow row;
  std::string method;
  std::string url;
  std::string headers;
  std::string proof;
  std::string body;
};

// All fields that are set must match.
struct RejectFilter {
  std::optional<SourceNo> source = {};
  std::string_view reason = {};        // empty: any
  std::optional<WallTime> since = {};  // received at or after
  std::optional<WallTime> until = {};  // received before
};

inline constexpr RejectNo kNewestReject{std::numeric_limits<std::int64_t>::max()};

struct RejectQuery {
  RejectFilter filter = {};
  RejectNo after{};                 // only larger numbers
  RejectNo before = kNewestReject;  // only smaller ones
  bool oldest_first = false;        // otherwise newest first, by descending number
  std::size_t limit = 100;          // 1 to kMaxPage
};

struct RejectPage {
  std::vector<RejectRow> rejects;
  std::optional<RejectNo> next;  // `before` (or `after`) of the next page; nullopt: the last page
};

// The counts of a source that has or had rejects.
struct RejectCounts {
  SourceNo source;
  std::uint64_t kept = 0;  // now
  std::uint64_t bytes = 0;
  std::uint64_t evicted = 0;  // total, to make room
  std::uint64_t dropped = 0;  // total, as reported
};

// ---------------------------------------------------------------------------------------------
// Violated invariants, counted where a store can detect them. Totals.

struct ClaimFaults {
  std::uint64_t doubled = 0;  // ids claimed by an event while another event had them
  EventNo event{};            // of the last conflict: the newer event,
  EventNo other{};            // ... and the event that had the id
};

// ---------------------------------------------------------------------------------------------
// Counts.

struct DestinationStats {
  DestinationNo destination;
  // Current counts. Completed deliveries are counted by metrics only.
  std::uint64_t pending = 0;  // including waiting ones
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  std::uint64_t superseded = 0;
  std::uint64_t cancelled = 0;
  std::optional<WallTime> oldest_due;  // earliest due time, past or future
};

struct SourceStats {
  SourceNo source;
  WallTime last_seen{};  // when its last event was stored, to within kSeenSlack
};

struct Stats {
  std::vector<DestinationStats> destinations;  // with deliveries; by number
  std::vector<SourceStats> sources;            // with a last_seen; by number
};

}  // namespace hapax::store
