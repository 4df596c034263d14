// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/outbox.hpp>
#include <hapax/store.hpp>

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

// The inbox items of a batch: admit, lease and settle, with their answers and the behavior required
// of a store. Part of store/inbox.hpp.
namespace hapax::store {

// Limits. The caller of a driver validates every item with check() in inbox.hpp first, before
// anything is written. A driver never sees an item that exceeds a limit.
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

// ---------------------------------------------------------------------------------------------
// Admit: a request is stored durably as events with deliveries, or not at all.

struct Target {
  DestinationNo to;
  // A `listen` destination: its deliveries never delay retention, and are outside lanes.
  bool listen = false;
};

// One event of a request. The views must outlive the call.
struct Arrival {
  // Generated before the call. A repeated call uses the same number and must follow soon: the
  // number of a removed event must not be used again.
  EventNo no;
  SourceNo source;
  std::string_view tenant = {};  // may be empty
  // Identity::key, which distinguishes the sender's ids. Empty: the sender provides none, nothing
  // is claimed, and every arrival is an event.
  std::string_view key = {};
  std::string_view id = {};                  // Identity::id, for display
  std::string_view type = {};                // may be empty
  std::string_view order_key = {};           // empty: no lane
  std::optional<std::int64_t> version = {};  // ignored without an order key
  Digest digest{};                           // of the body
  std::string_view headers = {};             // encode_headers(); opaque to the store
  std::string_view body = {};
  std::chrono::milliseconds remember = kDefaultTtl;  // how long the id stays claimed
  std::span<const Target> targets = {};  // each destination once; none: archived, completed at once
};

// One request. Its arrivals are admitted in order, all or none, even if a store has to retry the
// items of a batch separately.
struct Admit {
  std::span<const Arrival> arrivals;
  // Other than none (observe mode): stored without a claim and outside lanes, even if the id is
  // claimed.
  Would would = Would::none;
  // False (observe mode): an older version is still delivered.
  bool guard = true;
};

// The outcome for one arrival.
//
// The unique index decides. A live claim makes the arrival a duplicate and writes nothing. An
// expired claim is taken over, unless its event still has a delivery that is pending, leased or the
// dead head of a blocked lane (`listen` destinations do not count): then the claim stays live. A
// duplicate does not extend the claim. If an id occurs twice in a batch, the first arrival gets it.
//
// Repeating an admit of unknown outcome, with the same event numbers, returns the answer that the
// first call should have returned: if the claim has the arrival's own number, it is fresh, and
// nothing is written again. The same holds for an arrival without a claim whose event exists.
struct Admission {
  enum class Kind : std::uint8_t {
    fresh,      // stored: the claim, the bytes and a pending delivery for each target
    duplicate,  // the id is claimed by `event`
    changed,    // a duplicate whose digest differs; duplicate if `event` is gone
  };
  Kind kind = Kind::fresh;
  EventNo event;  // the event that has the id; for a fresh arrival its own

  friend bool operator==(const Admission&, const Admission&) = default;
};

// One element per arrival, in order. An item fails by itself, and then nothing of it was stored.
// store_full: a bounded store has no room for it. store_busy: a number belongs to another event
// (two nodes shared a node number); generate new numbers.
using AdmitAnswer = Result<std::vector<Admission>>;

// ---------------------------------------------------------------------------------------------
// Lease: the right to attempt a delivery, for a limited time.
//
// A lane is (destination, source, tenant, order key). Its deliveries keep commit order; those of
// one request keep the order of its arrivals. Only the head can be leased; the others wait, even
// while the head waits for a retry. A delivery stays the head until
//  - it leaves the lane: completed, cancelled, superseded, or dead under OnDead::skip. The delivery
//    that waits at the lowest position becomes the head, due at once (or when its own retry is
//    due);
//  - a replayed delivery waits at a lower position while no live lease holds the head: they swap.
//    This happens when the head is retried or released, or at the replay.
// A dead head under OnDead::block stays the head until someone replays or cancels it; a later
// change of the configuration does not free it.
//
// Version guard: a lane stores its highest completed version, for `remember` (of the last arrival
// admitted to it) after the version last changed. A delivery with a strictly lower version is
// superseded instead of leased, or earlier when it would become the head; at most kMaxSuperseded
// per item. A delivery without a version is not compared and does not advance the lane's version.
// Arrivals with guard == false only advance it; replayed deliveries do neither.
struct LeaseRequest {
  DestinationNo from;
  std::size_t max = 1;  // 1 to kMaxLeaseCount
  std::chrono::milliseconds lease{};
  Holder holder;
  // After this many expired leases of pull or library holders the delivery is dead: abandoned.
  unsigned max_abandons = 0;            // 0: no limit
  std::chrono::milliseconds horizon{};  // since first_sent; 0: none
  OnDead on_dead = OnDead::skip;        // for both of these
};

// An event as delivered to its handler.
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
  Fence fence;           // larger than every earlier fence
  unsigned attempt = 1;  // failures so far, plus one
  unsigned abandons = 0;
  WallTime until{};
  std::optional<DeliveryNo> replay_of;
  StoredEvent event;
};

// A request examines up to `max` due deliveries of its destination, each once, in the order of
// (due, event number, delivery number):
//  - If a pull or library holder let its lease expire, an abandon is counted, and the delivery is
//    dead (abandoned) if that makes max_abandons.
//  - If `horizon` has passed since first_sent, it is dead (horizon).
//  - If it is outdated, it is superseded, or left unchanged once kMaxSuperseded are.
//  - Otherwise it is leased. It is due again when the lease ends, so that no cleanup is needed.
//    first_sent is set unless it is set already: from here on a byte may have been sent.
// Once the leased deliveries have kMaxLeaseBytes or more, no more are leased, because the whole
// answer is in memory. A delivery that becomes due during the call, as the next of its lane, waits
// for another call. For a paused destination nothing is returned and nothing changes. Leases whose
// answer was lost expire.
struct Lease {
  std::vector<Leased> deliveries;  // in the order above
  // Examined but not leased, or skipped for kMaxLeaseBytes. If not 0, request again at once.
  std::size_t passed = 0;
};

// ---------------------------------------------------------------------------------------------
// Settle: ends or renews a lease. Only the fence matters, never the time: an expired lease may be
// settled or renewed until the delivery is leased again. Only a lease has a fence that settles:
// that of an unleased delivery matches nothing, even if it is guessed.
//
// Every transition other than lease and renew invalidates the delivery's fence, so that nothing is
// settled twice. Every disposition except Renew writes an attempt row for (event, delivery, fence).
//
//   Ack        completed. Advances the version of its lane.
//   RetryIn    attempts + 1; pending, due after `delay`. sent == false: see Release.
//   Drop       cancelled (dropped).
//   Dead       attempts + 1; dead.
//   Renew      leased until now + lease.
//   Release    pending, due at once, after deliveries that were due earlier; nothing is counted.
//              sent == false: first_sent is unset again if no earlier lease may have sent a byte.
struct Settlement {
  DeliveryRef which;
  Fence fence;
  Disposition disposition;
  AttemptNote note = {};
};

// If the fence is not the delivery's, the attempt row of that fence decides: with the same outcome
// (whatever the delay or the note) this is the same settlement repeated, and ok; otherwise it is
// stale. A renew has no row, so it is stale. Nothing changes in either case.
enum class Settled : std::uint8_t {
  ok,
  stale,    // the lease was taken over, has ended or never existed
  unknown,  // no such delivery, and no attempt of it
};

}  // namespace hapax::store
