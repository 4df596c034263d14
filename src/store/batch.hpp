// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/sha256.hpp"
#include "model/delivery.hpp"
#include "model/ids.hpp"
#include "model/numbers.hpp"
#include "store/limits.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The items of Queue::write(): admit, lease and settle, with their answers and the behavior
// required of a store. Part of store/queue.hpp.
namespace hapax::store {

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

// ---------------------------------------------------------------------------------------------
// Batch: one write() takes work of every kind. A batch is a unit of sync, not of atomicity: each
// item is atomic by itself.

// Executed in this order. Each vector of answers has one element per item, in order.
struct Batch {
  std::span<const Settlement> settle = {};
  std::span<const Admit> admit = {};
  std::span<const LeaseRequest> lease = {};
};

struct Answers {
  Result<std::vector<Settled>> settle = std::vector<Settled>{};
  std::vector<AdmitAnswer> admit;  // each with its own outcome
  Result<std::vector<Lease>> lease = std::vector<Lease>{};
};

// Every item of the batch failed with the same error.
Answers failed(const Batch& batch, const Error& error);

// invalid_argument: exceeds a limit; names the first one.
Result<void> check(const Admit& admit);
Result<void> check(const Settlement& settlement);
Result<void> check(const LeaseRequest& request);

// The key of the unique index: (source, tenant) as a group, then the identity key unchanged, so
// that time-ordered ids stay ordered. See base/claim_key.hpp.
std::string event_claim_key(SourceNo source, std::string_view tenant, std::string_view key);
// The lane of an order key, within its destination.
std::string lane_key(SourceNo source, std::string_view tenant, std::string_view order_key);

// The outcome that the attempt row records for a disposition; nullopt for Renew.
std::optional<AttemptOutcome> outcome_of(const Disposition& disposition);

// How a delivery interacts with the version of its lane.
enum class Guard : std::uint8_t {
  full,     // compared with the lane's version, and advances it
  observe,  // advances it
  none,     // neither: a replay
};

// Whether an expired lease of this holder counts as abandoned.
constexpr bool counts_abandons(Holder::Kind kind) {
  return kind != Holder::Kind::push;
}

}  // namespace hapax::store
