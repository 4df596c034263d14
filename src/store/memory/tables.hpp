// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/driver.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

// The tables of the memory store. As the model of the other stores it favors readability: plain
// tables, and functions on them in the files beside this one. Not thread-safe: the driver locks
// around every call. `now` is store time in milliseconds.
namespace hapax::store::memory {

struct EventClaim {
  EventNo event;
  std::int64_t expires_ms = 0;
};

struct Event {
  EventNo no;
  SourceNo source;
  std::string tenant;
  std::string id;
  std::string type;
  std::string order_key;
  std::optional<std::int64_t> version;
  Digest digest{};
  std::string headers;
  std::string body;
  std::int64_t received_ms = 0;
  Would would = Would::none;
  std::size_t size = 0;  // its share of Tables::bytes
  std::uint64_t duplicates = 0;
  std::vector<Variant> variants;
  std::string last_variant;
};

// `open` is pending or leased: due_ms is when it may be leased next.
enum class QueueState : std::uint8_t { open, waiting, completed, dead, superseded, cancelled };

struct Delivery {
  DeliveryRef ref;
  DestinationNo to;
  bool listen = false;
  QueueState state = QueueState::open;
  std::int64_t due_ms = 0;
  Fence fence;
  std::optional<Holder> holder;  // of the last lease, until it is settled or taken over
  unsigned attempts = 0;
  unsigned abandons = 0;
  std::string lane;  // empty: none
  std::int64_t lane_seq = 0;
  bool in_lane = false;  // a member of the lane now
  std::optional<std::int64_t> version;
  Guard guard = Guard::full;
  std::optional<std::int64_t> first_sent_ms;
  Fence first_fence;  // the lease that set first_sent_ms
  EndReason reason = EndReason::none;
  std::optional<std::int64_t> ended_ms;
  std::optional<DeliveryNo> replay_of;
  ReplayNo replay;  // the last one

  bool leased(std::int64_t now) const {
    return state == QueueState::open && holder && now < due_ms;
  }
  bool blocking() const { return state == QueueState::dead && in_lane; }
  // Whether it keeps its event and the event's claim alive.
  bool holds() const {
    return !listen && (state == QueueState::open || state == QueueState::waiting || blocking());
  }
};

// A lane that is not empty has one head: the member that is open, or dead and blocking. All other
// members wait.
struct Lane {
  std::map<std::int64_t, DeliveryRef> members;  // by lane_seq
  DeliveryRef head;
  std::optional<std::int64_t> version;  // the highest completed
  std::int64_t version_until_ms = 0;
  std::chrono::milliseconds remember{};
};
using LaneName = std::pair<DestinationNo, std::string>;

using AttemptKey = std::pair<DeliveryRef, Fence>;

struct OutboxMessage {
  MessageId id;
  std::string destination;
  std::string order_key;
  std::string headers;
  std::string payload;
};

struct Node {
  Token owner;
  std::int64_t until_ms = 0;
};

// The progress of retention. Each kind is walked to its end before the next, so that rows that
// depend on a removed event are visited after it.
struct SweepCursor {
  enum class Phase : std::uint8_t { events, attempts, claims, lanes };
  Phase phase = Phase::events;
  EventNo event;
  AttemptKey attempt;
  std::string claim;
  LaneName lane;
};

struct Tables {
  std::map<std::string, EventClaim> claims;
  std::map<EventNo, Event> events;
  std::map<DeliveryRef, Delivery> deliveries;
  std::set<std::tuple<DestinationNo, std::int64_t, DeliveryRef>> due;  // open deliveries
  std::map<LaneName, Lane> lanes;
  std::map<AttemptKey, Attempt> attempts;
  std::map<RejectNo, StoredReject> rejects;
  std::map<SourceNo, RejectCounts> reject_counts;  // evicted and dropped
  std::deque<OutboxMessage> messages;
  std::map<NameKind, std::vector<std::string>> names;  // number - 1 is the index
  std::map<SourceNo, std::int64_t> seen_ms;
  std::set<DestinationNo> paused;
  std::map<NodeNo, Node> nodes;
  std::optional<StoreSecret> secret;
  std::map<std::string, Record, std::less<>> records;
  SweepCursor cursor;
  EventNo floor{-1};  // the largest number that retention removed
  std::int64_t last_fence = 0;
  std::size_t bytes = 0;  // of events and messages, approximate

  Fence next_fence() { return Fence(++last_fence); }

  // The deliveries of one event, as a range.
  auto deliveries_of(EventNo event) {
    return std::pair(deliveries.lower_bound({event, DeliveryNo(0)}),
                     deliveries.lower_bound({EventNo(event.value() + 1), DeliveryNo(0)}));
  }
  auto deliveries_of(EventNo event) const {
    return std::pair(deliveries.lower_bound({event, DeliveryNo(0)}),
                     deliveries.lower_bound({EventNo(event.value() + 1), DeliveryNo(0)}));
  }
  Presence presence_of(EventNo event) const {
    if (events.contains(event)) return Presence::here;
    return event <= floor ? Presence::gone : Presence::absent;
  }
  bool holds(EventNo event) const {
    const auto [first, last] = deliveries_of(event);
    return std::any_of(first, last, [](const auto& each) { return each.second.holds(); });
  }
};

inline WallTime wall(std::int64_t ms) {
  return WallTime(std::chrono::milliseconds(ms));
}

inline std::optional<WallTime> wall(std::optional<std::int64_t> ms) {
  return ms ? std::optional(wall(*ms)) : std::nullopt;
}

}  // namespace hapax::store::memory
