// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "model/delivery.hpp"
#include "model/numbers.hpp"
#include "store/event_filter.hpp"
#include "store/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hapax::store {

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

// ---------------------------------------------------------------------------------------------
// Names.

enum class NameKind : std::uint8_t { source, destination };

struct KnownName {
  std::int64_t number = 0;
  std::string name;
};

// ---------------------------------------------------------------------------------------------
// The contract: what an inbox holds, names and paused destinations. The capability `inbox`.
// Thread-safe; the calls block and never throw. An error has one of the three outcomes. Each call
// is atomic by itself and may be repeated after an unknown outcome.
class Catalog {
 public:
  virtual ~Catalog() = default;

  // For each identity the event with the live claim. Informational: only write() decides.
  virtual Result<std::vector<std::optional<EventNo>>> find(
      std::span<const WantedIdentity> wanted) = 0;
  virtual Result<EventPage> events(const EventQuery& query) = 0;
  virtual Result<Lookup<EventDetail>> event(EventNo number) = 0;
  // The bytes as received. last_variant: absent if there is none.
  virtual Result<Lookup<std::string>> body(EventNo number, BodyOf which) = 0;

  virtual Result<Stats> stats() = 0;
  // Cheap enough to call every second. Always zero in a store where a unique constraint alone
  // decides.
  virtual Result<ClaimFaults> claim_faults() = 0;

  // The number of a name: assigned by the first call, then the same forever, on every node.
  virtual Result<std::int64_t> number_of(NameKind kind, std::string_view name) = 0;
  virtual Result<std::vector<KnownName>> names(NameKind kind) = 0;  // by number

  // Stored. A paused destination still gets deliveries, which can be settled but not leased.
  virtual Result<void> pause(DestinationNo destination, bool paused) = 0;
  virtual Result<std::vector<DestinationNo>> paused() = 0;  // by number
};

// invalid_argument: exceeds a limit; names the first one.
Result<void> check(const EventQuery& query);

}  // namespace hapax::store
