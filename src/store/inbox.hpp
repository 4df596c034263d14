// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/outbox.hpp>
#include <hapax/store.hpp>

#include "model/ids.hpp"
#include "model/numbers.hpp"
#include "store/inbox_queue.hpp"
#include "store/inbox_rows.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The inbox contract: events, their deliveries, leases, lanes and retention. It is tested by
// tests/compliance/inbox_*; the memory store is the model that the others are compared with. The
// items of write() are in inbox_queue.hpp, the rows that can be read in inbox_rows.hpp, everything
// else is here.
//
// Times are store time, read once per transaction, in whole milliseconds. `now >= end` means
// expired everywhere. Fences come from one source that only increases, across rollbacks, crashes
// and restarts: a fence is never issued twice, and every later one is larger.
namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Cancel and replay.

enum class Cancelled : std::uint8_t {
  done,          // was pending, leased or dead, or already cancelled
  not_possible,  // completed or superseded
  gone,          // Presence::gone
  absent,        // no such delivery
};

enum class ReplayAs : std::uint8_t {
  // Returns a dead, cancelled or superseded delivery to pending: same id, same position in its
  // lane, old fence invalid, failures and abandons reset, due at once.
  same,
  // Creates a new delivery of the same event to the same destination, for one that is completed,
  // dead, cancelled or superseded: new id, outside lanes.
  as_new,
};

struct HowToReplay {
  ReplayAs as = ReplayAs::same;
  std::optional<DestinationNo> destination = {};  // only deliveries to this one
  // `same`: also replays deliveries that died by their horizon, and restarts the horizon
  // (first_sent is unset).
  bool accept_duplicate = false;
  // Identifies this replay, so that it can be repeated after an unknown outcome: a delivery already
  // replayed under this number is not replayed again, and is returned as if it had been. (Except
  // for a replay as `same` whose delivery has been completed since.) 0: none.
  ReplayNo no{};
};

struct Replay {
  EventNo event;
  // nullopt: all deliveries of the event that `as` allows; for as_new only the last one per
  // destination. New deliveries are numbered in the order of those that they replay.
  std::optional<DeliveryNo> delivery = {};
  HowToReplay how = {};
};

struct Replayed {
  enum class Status : std::uint8_t {
    done,            // `deliveries` were replayed
    not_replayable,  // none is in a state that `as` allows (completed needs as_new)
    past_horizon,    // all candidates died by their horizon, without accept_duplicate
    too_many,        // the event has kMaxDeliveryNo deliveries
    gone,            // Presence::gone: the bytes were removed
    absent,          // no such event or delivery
  };
  Status status = Status::absent;
  std::vector<DeliveryNo> deliveries;  // pending now; for as_new the new ones
};

// One step of a bulk replay: up to `limit` matching events, oldest first.
struct ReplayStep {
  EventFilter filter = {};
  HowToReplay how = {};
  EventNo after{};          // Replaying::after of the previous step
  EventNo until = kNewest;  // no events with larger numbers
  std::size_t limit = 100;  // 1 to kMaxStep
  bool dry = false;         // only count the events; change nothing
};

struct Replaying {
  std::size_t events = 0;      // matched in this step
  std::size_t deliveries = 0;  // replayed
  EventNo after;
  bool done = false;
};

// ---------------------------------------------------------------------------------------------
// Retention.

struct Periods {
  SourceNo source;
  std::chrono::milliseconds keep{};       // for an event, after its last delivery ended
  std::chrono::milliseconds keep_dead{};  // used instead while a delivery is dead
};

// One incremental step: scans about `limit` rows, resumes where the previous step stopped, and
// never blocks other callers for long.
//
// An event is deleted as a whole once no delivery of it is pending, leased or the dead head of a
// blocked lane, and its retention has passed since its last delivery ended (since it was received,
// if it has none). Deliveries of `listen` destinations do not delay it and are deleted with it.
// Events of sources that are not listed are kept. Attempt rows are deleted with the event, but not
// before kKeepAttempts after their delivery's last one. A claim is deleted when it has expired and
// its event is gone; a lane when it is empty and its version has expired. Called until `done`, with
// no other calls in between, it leaves no deletable event, with one exception: events of a
// partition with more than 10,000 may stay for a day, until all of them can be deleted at once. A
// store may delete the other rows later.
//
// The largest removed number is stored: a missing event at or below it is `gone`. (PostgreSQL: the
// largest one that is not ahead of store time. A number from a node whose clock is ahead says
// nothing about other events.)
struct SweepStep {
  std::span<const Periods> periods;
  std::size_t limit = 500;  // 1 to kMaxStep
};

// The counts are for display. They may be too small, never too large: a step repeated after a
// failed commit that took effect counts only the remaining rows.
struct Swept {
  std::size_t events = 0;
  std::size_t others = 0;  // claims, attempts, lanes
  bool done = false;       // everything was scanned since this was last true
};

// ---------------------------------------------------------------------------------------------
// Records: small texts, stored by name and shared by all nodes, for data that is small and rarely
// changes: a bulk replay in progress, a developer's machine that listens.

inline constexpr std::size_t kMaxRecord = std::size_t{16} * 1024;  // bytes per record
inline constexpr std::size_t kMaxRecords = 1000;                   // in a store

struct Record {
  std::string name;  // same rules as a source name: check_name()
  // Random, above 0, new for each write, so that a writer recognizes its own.
  std::int64_t version = 0;
  std::string content;

  friend bool operator==(const Record&, const Record&) = default;
};

// ---------------------------------------------------------------------------------------------
// Other operations.

enum class NameKind : std::uint8_t { source, destination };

struct KnownName {
  std::int64_t number = 0;
  std::string name;
};

using StoreSecret = std::array<unsigned char, 32>;

// Committed outbox messages become events with one delivery each. The source is kOutboxSource, the
// tenant is empty, the id is the message's UUID, and the lane is that of the message's order key.
struct Moved {
  std::size_t messages = 0;  // under this call's numbers, by this call or an earlier one
  bool more = false;         // messages remain, possibly despite unused numbers
};

struct ReleaseStep {
  Holder::Kind kind = Holder::Kind::push;
  std::optional<std::int64_t> owner = {};  // nullopt: all of that kind
  std::size_t limit = kMaxStep;
};

struct Released {
  std::size_t deliveries = 0;
  bool done = false;
};

// The operations of a store with an inbox, besides write(). Thread-safe; they block and never
// throw. An error has one of the three outcomes. Each call is atomic by itself, except that sweep()
// and release_holder() may stop after a part. Unless noted otherwise, a call may be repeated after
// an unknown outcome, and the default, for stores without an inbox, returns `misconfigured`.
class InboxOperations {
 public:
  virtual ~InboxOperations() = default;

  // The number of a name: assigned by the first call, then the same forever, on every node.
  virtual Result<std::int64_t> number_of(NameKind kind, std::string_view name);
  virtual Result<std::vector<KnownName>> names(NameKind kind);  // by number

  // Assigns `owner` (not empty) a node number of its own until `lease` expires. Another call
  // extends the lease and keeps the number. If the lease has expired and the number was reassigned,
  // it returns a new one, and the owner must generate no more event numbers with the old one.
  // Unused numbers are assigned first, then the one that expired longest ago. store_full: all are
  // taken.
  virtual Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease);
  virtual Result<void> leave_node(const Token& owner);  // expires it at once; no-op without one

  // The store's secret: `proposed` of the first call, then the same forever, on every node.
  virtual Result<StoreSecret> secret(const StoreSecret& proposed);

  // For each identity the event with the live claim. Informational: only write() decides.
  virtual Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted);
  virtual Result<EventPage> events(const EventQuery& query);
  virtual Result<Lookup<EventDetail>> event(EventNo number);
  // The bytes as received. last_variant: absent if there is none.
  virtual Result<Lookup<std::string>> body(EventNo number, BodyOf which);

  // Also cancels leased deliveries: the holder's settle is then stale. Advances the lane.
  virtual Result<Cancelled> cancel(const DeliveryRef& which);
  virtual Result<Replayed> replay(const Replay& what);
  virtual Result<Replaying> replay_step(const ReplayStep& step);

  virtual Result<Swept> sweep(const SweepStep& step);

  // Creates in advance the partitions for the events of today and tomorrow, so that no request
  // waits for them. Otherwise requests create them on demand. To be called periodically; a no-op in
  // stores without partitions.
  virtual Result<void> make_ahead();

  // Must not be repeated after an unknown outcome: the counts, for display only, could double.
  virtual Result<void> note_duplicates(std::span<const DuplicateNote> notes);

  // Stores the rejects, counts the dropped ones, and returns how many others were evicted. The
  // counts are for display: if the call is repeated after an unknown outcome, they may be too
  // large.
  virtual Result<std::size_t> add_rejects(const RejectBatch& batch);
  virtual Result<RejectPage> rejects(const RejectQuery& query);
  virtual Result<std::vector<RejectCounts>> reject_counts();  // by source
  virtual Result<std::optional<StoredReject>> reject(RejectNo number);
  virtual Result<bool> remove_reject(RejectNo number);  // false: no such reject
  virtual Result<void> remove_rejects(std::span<const RejectNo> numbers);

  // Stored. A paused destination still gets deliveries, which can be settled but not leased.
  virtual Result<void> pause(DestinationNo destination, bool paused);
  virtual Result<std::vector<DestinationNo>> paused();  // by number

  // As Outbox::enqueue, in a transaction of its own, for callers without one. After an unknown
  // outcome a message with a key may be repeated, with its id; one without a key must not.
  virtual Result<Enqueued> enqueue(const MessageId& id, const Message& message);
  // Moves committed messages into the queue, at most one per number, in whatever order they were
  // committed: messages are found by a scan, never by a cursor. It may move fewer and then sets
  // `more`: messages locked by another transaction wait for another call. Event numbers are used in
  // order, by message number; so are positions in lanes. A repeated call counts the messages
  // already moved under the same numbers, and may move more under unused ones. store_busy, and
  // nothing is moved, if a number belongs to an event that was not a message.
  virtual Result<Moved> move_messages(std::span<const EventNo> numbers);

  // Releases the leases of holders known to be dead: pending, due at once, old fence invalid. No
  // abandon is counted, and first_sent is kept.
  virtual Result<Released> release_holder(const ReleaseStep& step);

  virtual Result<std::optional<Record>> record(std::string_view name);
  virtual Result<std::vector<Record>> records(std::string_view prefix);  // sorted by name
  // Replaces the record of version `before`; 0: adds a new record. True: the record is stored, by
  // this call or an earlier one with the same version. False: `before` did not match, and nothing
  // changed. store_full: there are kMaxRecords.
  virtual Result<bool> put_record(const Record& record, std::int64_t before);
  // True: no such record remains. False: it has another version, and nothing changed.
  virtual Result<bool> remove_record(std::string_view name, std::int64_t version);

  virtual Result<Stats> stats();
  // Cheap enough to call every second. Always zero in a store where a unique constraint alone
  // decides.
  virtual Result<ClaimFaults> claim_faults();
};

// ---------------------------------------------------------------------------------------------

// Validate the limits above; invalid_argument names the one exceeded, by the first bad item.
Result<void> check(const Admit& admit);
Result<void> check(const Settlement& settlement);
Result<void> check(const LeaseRequest& request);
Result<void> check(const EventQuery& query);
Result<void> check(const ReplayStep& step);
Result<void> check(const SweepStep& step);
Result<void> check(const DuplicateNote& note);
Result<void> check(const Reject& reject);
Result<void> check(const RejectQuery& query);
Result<void> check(const Record& record);
Result<void> check_name(std::string_view name);

// The key of the unique index: (source, tenant) as a group, then the identity key unchanged, so
// that time-ordered ids stay ordered. See base/claim_key.hpp.
std::string event_claim_key(SourceNo source, std::string_view tenant, std::string_view key);
// The lane of an order key, within its destination.
std::string lane_key(SourceNo source, std::string_view tenant, std::string_view order_key);

// The outcome that the attempt row records for a disposition; nullopt for Renew.
std::optional<AttemptOutcome> outcome_of(const Disposition& disposition);

// The store_full error of put_record().
Error no_room_for_records();

// Whether an expired lease of this holder counts as abandoned.
constexpr bool counts_abandons(Holder::Kind kind) {
  return kind != Holder::Kind::push;
}

}  // namespace hapax::store
