// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>
#include <hapax/tx.hpp>

#include "base/sha256.hpp"
#include "model/delivery.hpp"
#include "model/ids.hpp"
#include "model/numbers.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The items of a batch that are the inbox's: admit, lease and settle; what goes in, what comes out,
// and what a store must do in between. Part of store/inbox.hpp.
namespace hapax::store {

// Limits. What is longer, or more, is refused before anything is written: see check() in inbox.hpp,
// which the caller of a driver asks first. A driver never sees what check() refuses.
inline constexpr std::size_t kMaxName = 128;  // of a source or destination: visible ASCII
inline constexpr std::size_t kMaxTenant = 128;
inline constexpr std::size_t kMaxEventId = 4 * kMaxId + 3;        // the shown form: parts and '/'
inline constexpr std::size_t kMaxIdentityKey = 4 * (kMaxId + 8);  // parts with kind and length
inline constexpr std::size_t kMaxType = 1024;
inline constexpr std::size_t kMaxOrderKey = kMaxId;
inline constexpr std::size_t kMaxBody = kMaxPayload;
inline constexpr std::size_t kMaxStoredHeaders = 2 * kMaxHeaderBytes;  // encoded
inline constexpr std::size_t kMaxArrivals = 10'000;                    // in one request
inline constexpr std::size_t kMaxTargets = 64;                         // of one arrival
inline constexpr std::size_t kMaxLeaseCount = 1000;                    // deliveries in one lease
// Headers and bodies that one lease request is answered with; the last of them may pass it.
inline constexpr std::size_t kMaxLeaseBytes = std::size_t{16} * 1024 * 1024;
inline constexpr std::size_t kMaxAttemptError = 256;
inline constexpr std::size_t kMaxExcerpt = 1024;
inline constexpr std::size_t kMaxShownAttempts = 100;  // of one event, the last ones
inline constexpr std::size_t kMaxVariants = 16;        // changed bodies of one event
inline constexpr std::size_t kMaxRejectText = 1024;    // reason, detail, method, proof: each
inline constexpr std::size_t kMaxUrl = 16 * 1024;
inline constexpr std::size_t kMaxPage = 1000;    // rows of one listing
inline constexpr std::size_t kMaxStep = 10'000;  // rows of one step of retention or replay

// How many deliveries one item (a settlement, a lease request, a cancel, a replay of one event) may
// turn to superseded, so that a backlog of old versions cannot make a transaction long.
inline constexpr unsigned kMaxSuperseded = 64;

// Attempt rows outlive the last settle of their delivery by this much, whatever `keep` says: until
// then a repeated settle gets its first answer.
inline constexpr std::chrono::milliseconds kKeepAttempts = days;

// stats().last_seen may lag by this much.
inline constexpr std::chrono::milliseconds kSeenSlack = std::chrono::seconds(1);

// The source of all events that were outbox messages. No source of a configuration has its name.
inline constexpr std::string_view kOutboxSource = "outbox";

// ---------------------------------------------------------------------------------------------
// Admit: a request becomes events with deliveries, durably, or does not.

struct Target {
  DestinationNo to;
  // A `listen` destination: its deliveries never hold back retention, and are outside lanes.
  bool listen = false;
};

// One event of a request. Only views: they must outlive the call.
struct Arrival {
  // Made before the call; the same again when the call is repeated, soon: the number of an event
  // that is gone must not come back.
  EventNo no;
  SourceNo source;
  std::string_view tenant = {};  // may be empty
  // Identity::key: what tells the sender's ids apart. Empty: the sender gives none, nothing is
  // claimed, and every arrival is an event.
  std::string_view key = {};
  std::string_view id = {};                  // Identity::id, for people
  std::string_view type = {};                // may be empty
  std::string_view order_key = {};           // empty: no lane
  std::optional<std::int64_t> version = {};  // no meaning without an order key
  Digest digest{};                           // of the body
  std::string_view headers = {};             // encode_headers(); any bytes to the store
  std::string_view body = {};
  std::chrono::milliseconds remember = kDefaultTtl;  // how long the id is claimed, from now on
  std::span<const Target> targets = {};  // each destination once; none: archived, completed at once
};

// One request. Its arrivals are admitted together or not at all, in their order, also when a store
// has to try the items of a batch apart.
struct Admit {
  std::span<const Arrival> arrivals;
  // Other than none (observe mode): stored without a claim and outside lanes, even if the id is
  // claimed.
  Would would = Would::none;
  // False (observe mode): an older version is delivered all the same.
  bool guard = true;
};

// What became of one arrival.
//
// The unique index decides. A live claim makes the arrival a duplicate and writes nothing. An
// expired claim is taken over, unless its event still has a delivery that is pending, leased or the
// dead head of a blocked lane (except for `listen` destinations): then it still holds. Duplicates
// extend nothing. An id twice in one batch belongs to the first.
//
// Repeating an admit whose outcome was unknown, with the same event numbers, gives the answer that
// the first should have got: where the claim names the arrival's own number it is fresh, and
// nothing is written again. The same holds of an arrival without a claim whose event is there.
struct Admission {
  enum class Kind : std::uint8_t {
    fresh,      // stored: the claim, the bytes and a pending delivery for each target
    duplicate,  // the id is claimed by `event`
    changed,    // a duplicate whose digest is not that of `event`'s body; where that is gone:
                // duplicate
  };
  Kind kind = Kind::fresh;
  EventNo event;  // the one that has the id: of a fresh arrival its own

  friend bool operator==(const Admission&, const Admission&) = default;
};

// One per arrival, in their order. An item fails alone: store_full where a bounded store has no
// room for it; store_busy when a number of it is another event's (two nodes shared a node number:
// make new ones). Either way nothing of it was stored.
using AdmitAnswer = Result<std::vector<Admission>>;

// ---------------------------------------------------------------------------------------------
// Lease: the right to attempt a delivery, for a time.
//
// A lane is (destination, source, tenant, order key). Its deliveries keep the order in which they
// were committed; within one request that of its arrivals. Only the head can be leased; the others
// wait, also while the head waits for a retry. A head stays it until
//  - it leaves the lane: completed, cancelled, superseded, or dead under OnDead::skip. The lowest
//    that waits becomes head, due at once (or when its own retry is due);
//  - it is released by RetryIn or Release while one with a lower place waits (by a replay), or a
//    replay puts such a one there while no live lease holds the head: they change places.
// A dead head under OnDead::block stays head until a person replays or cancels it; another
// configuration later does not free it.
//
// The version guard: a lane remembers the highest version that was completed on it, for `remember`
// (of the lane's last admitted arrival) after it last changed. A delivery with a strictly lower one
// becomes superseded instead of leased, and early when it becomes head by another's leaving; at
// most kMaxSuperseded per item. Without a version nothing is compared and nothing moves. Arrivals
// with guard == false are not compared, and move it; replayed deliveries do neither.
struct LeaseRequest {
  DestinationNo from;
  std::size_t max = 1;  // 1 to kMaxLeaseCount
  std::chrono::milliseconds lease{};
  Holder holder;
  // After this many lapsed leases of pull or library holders the delivery is dead: abandoned.
  unsigned max_abandons = 0;            // 0: no limit
  std::chrono::milliseconds horizon{};  // since first_sent; 0: none
  OnDead on_dead = OnDead::skip;        // for those two
};

// An event as its handler gets it.
struct StoredEvent {
  EventNo no;
  SourceNo source;
  std::string tenant;
  std::string id;
  std::string type;
  std::string headers;
  std::string body;
  WallTime received{};  // store time of its admit
  Would would = Would::none;
};

struct Leased {
  DeliveryNo delivery;
  Fence fence;           // larger than every fence given out before
  unsigned attempt = 1;  // the failures so far, and this one
  unsigned abandons = 0;
  WallTime until{};
  std::optional<DeliveryNo> replay_of;
  StoredEvent event;
};

// The deliveries of one destination that are due, in the order of (due, event number, delivery
// number), are looked at once, `max` of them, and each is
//  - first, where a pull or library holder let its lease lapse: counted as abandoned, and dead
//    (abandoned) when that makes max_abandons;
//  - dead (horizon) when `horizon` has passed since first_sent;
//  - superseded, or, when kMaxSuperseded are, left as it is;
//  - else leased: due when the lease ends, so that no cleanup is needed; first_sent is now
//    unless it was set before: a byte may go out from here on.
// Once those that are leased have kMaxLeaseBytes or more, no other is leased: the answer stands in
// memory whole. What becomes due by this, as the next of its lane, waits for another call. A paused
// destination gives nothing and nothing of it changes. Leases whose answer was lost lapse.
struct Lease {
  std::vector<Leased> deliveries;  // in the order above
  // Looked at, or left out for kMaxLeaseBytes, and not leased: when not 0, ask again at once.
  std::size_t passed = 0;
};

// ---------------------------------------------------------------------------------------------
// Settle: a lease ends, or goes on. Only the fence matters, never the time: a lease past its time
// that was not leased again may still be settled or renewed. Only a lease has a fence that settles:
// the fresh fence of an unleased delivery matches nothing, even when it is guessed.
//
// Every transition other than lease and renew gives the delivery a fresh fence, so that nothing can
// be settled twice. All dispositions but Renew write an attempt row under (event, delivery, fence).
//
//   Ack        completed. Moves the version of its lane.
//   RetryIn    attempts + 1; pending, due after `delay`. sent == false: as of Release.
//   Drop       cancelled (dropped).
//   Dead       attempts + 1; dead.
//   Renew      leased until now + lease.
//   Release    pending, due at once, behind what has waited longer; counts nothing. sent == false:
//              when no earlier lease may have sent a byte, first_sent is unset again.
struct Settlement {
  DeliveryRef which;
  Fence fence;
  Disposition disposition;
  AttemptNote note = {};
};

// When the fence is not the delivery's, the attempt row of that fence decides: of the same outcome
// (whatever the delay or the note) it is ok, as this is the same settlement again; else stale. A
// renew has no row, so it is stale. Nothing changes in either case.
enum class Settled : std::uint8_t {
  ok,
  stale,    // the lease is another's, or over and gone, or never was
  unknown,  // there is no such delivery, and no attempt of one
};

}  // namespace hapax::store
