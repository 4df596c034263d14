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

// What can be read of the inbox, and what is noted beside it. Part of store/inbox.hpp.
namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Reading.

// Whether something with a number of ours is there.
enum class Presence : std::uint8_t {
  here,
  gone,    // it was removed by retention, or never was but is below what retention has removed
  absent,  // it never was
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
  std::uint64_t duplicates = 0;                     // as far as they were noted
};

struct DeliveryRow {
  DeliveryNo no;
  DestinationNo to;
  DeliveryState state = DeliveryState::pending;
  EndReason reason = EndReason::none;
  std::optional<WallTime> ended;        // when it came to its terminal state
  std::optional<DeliveryNo> replay_of;  // made by a replay as new of that one
  // Of a completed delivery nothing of the following is kept.
  unsigned attempts = 0;  // handler failures since it was made or last replayed
  unsigned abandons = 0;
  std::optional<WallTime>
      due;                // pending: when it may be leased; leased: until when. Not in waiting
  bool waiting = false;   // pending behind the head of its lane
  bool blocking = false;  // the dead head of a blocked lane
  std::optional<Holder> holder;        // leased: by whom
  std::optional<WallTime> first_sent;  // when a byte may first have gone out
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
  std::vector<Variant> variants;        // in the order they came
};

enum class BodyOf : std::uint8_t { event, last_variant };

// All that is set must match, byte for byte.
struct EventFilter {
  std::optional<SourceNo> source = {};
  std::optional<std::string_view> tenant = {};
  std::optional<std::string_view> id = {};
  std::optional<std::string_view> type = {};
  std::optional<std::string_view> order_key = {};
  std::optional<DeliveryState> status = {};  // EventRow::status
  std::optional<WallTime> since = {};        // received then or later
  std::optional<WallTime> until = {};        // received before
};

inline constexpr EventNo kNewest{std::numeric_limits<std::int64_t>::max()};

struct EventQuery {
  EventFilter filter = {};
  EventNo before = kNewest;  // only smaller numbers
  std::size_t limit = 100;   // 1 to kMaxPage
};

// Newest first. A page may be shorter than asked for, even empty, and still not the last.
struct EventPage {
  std::vector<EventRow> events;
  std::optional<EventNo> next;  // EventQuery::before of the next page; nothing: that was all
};

// ---------------------------------------------------------------------------------------------
// Duplicates, noted lazily and in bulk, never before an ack.

struct DuplicateNote {
  EventNo event;  // one that is not there is ignored
  std::uint64_t count = 0;
  // A changed body. The first kMaxVariants digests are kept, each with its first time, and the
  // bytes of the last of them; a digest that is known already, or the event's own, is not noted.
  struct Changed {
    Digest digest{};
    WallTime at{};
    std::string_view body;
  };
  std::optional<Changed> changed = {};
};

// ---------------------------------------------------------------------------------------------
// Rejects: a ring for each source.

inline constexpr std::size_t kMaxRejects = 10'000;
inline constexpr std::size_t kMaxRejectBytes = std::size_t{64} * 1024 * 1024;

// Capacity per source. Excess is evicted: first from addresses above a quarter of the limit
// (largest first, oldest first, down to that quarter), then the oldest. First by number, then by
// bytes.
struct RejectRing {
  std::size_t rejects = kMaxRejects;
  std::size_t bytes = kMaxRejectBytes;  // of size_of() each
};

struct Reject {
  RejectNo no;  // made before the call; one that is there already is left as it is
  SourceNo source;
  std::string_view tenant = {};
  std::string_view reason = {};  // "signature-invalid"
  std::string_view detail = {};
  WallTime
      received{};  // by the clock of the one who received it: it is verified against this later
  std::string_view method = {};
  std::string_view url = {};
  std::string_view headers = {};  // encode_headers(), with what is secret replaced
  std::string_view proof = {};    // what can be compared in place of what was replaced
  std::string_view body = {};
  std::string_view address = {};  // of the sender
};

// What counts against RejectRing::bytes.
std::size_t size_of(const Reject& reject);

// Of one source: rejects that were not kept because there were too many at once.
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

// All that is set must match.
struct RejectFilter {
  std::optional<SourceNo> source = {};
  std::string_view reason = {};        // empty: any
  std::optional<WallTime> since = {};  // received then or later
  std::optional<WallTime> until = {};  // received before
};

inline constexpr RejectNo kNewestReject{std::numeric_limits<std::int64_t>::max()};

struct RejectQuery {
  RejectFilter filter = {};
  RejectNo after{};                 // only larger numbers
  RejectNo before = kNewestReject;  // only smaller ones
  bool oldest_first = false;        // otherwise the newest, which has the largest number
  std::size_t limit = 100;          // 1 to kMaxPage
};

struct RejectPage {
  std::vector<RejectRow> rejects;
  std::optional<RejectNo> next;  // `before` (or `after`) of the next page; nothing: that was all
};

// Of a source that has or had rejects.
struct RejectCounts {
  SourceNo source;
  std::uint64_t kept = 0;  // now
  std::uint64_t bytes = 0;
  std::uint64_t evicted = 0;  // made room for others, ever
  std::uint64_t dropped = 0;  // as was told, ever
};

// ---------------------------------------------------------------------------------------------
// What must not happen, counted where a store can see it; ever.

struct ClaimFaults {
  std::uint64_t doubled = 0;  // ids that were claimed by an event while another had them
  EventNo event{};            // of the last: the newer one,
  EventNo other{};            // ... and the one that had the id
};

// ---------------------------------------------------------------------------------------------
// Counts.

struct DestinationStats {
  DestinationNo destination;
  // Now. Completed ones are not counted: metrics do.
  std::uint64_t pending = 0;  // waiting ones included
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  std::uint64_t superseded = 0;
  std::uint64_t cancelled = 0;
  std::optional<WallTime>
      oldest_due;  // the first instant at which one could be leased, past or not
};

struct SourceStats {
  SourceNo source;
  WallTime last_seen{};  // when an event of it was last stored, give or take kSeenSlack
};

struct Stats {
  std::vector<DestinationStats> destinations;  // those with deliveries, by number
  std::vector<SourceStats> sources;            // those with last_seen, by number
};

}  // namespace hapax::store
