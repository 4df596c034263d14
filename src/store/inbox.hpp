// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>
#include <hapax/tx.hpp>

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

// The inbox, as every store has it: events, their deliveries, leases, lanes and retention. What a
// store must do is written here and tested by tests/compliance/inbox_*; the memory store is the
// model that the others are compared with. The items of write() are in inbox_queue.hpp, what can be
// read is in inbox_rows.hpp, the rest is here.
//
// Time is the store's own, read once per transaction, in whole milliseconds. `now >= end` means
// expired everywhere. Fences come from one source that only grows and that survives rollbacks, a
// crash and a restart: a fence that was given out once is never given out again, and every later
// one is larger.
namespace hapax::store {

// ---------------------------------------------------------------------------------------------
// Cancel and replay.

enum class Cancelled : std::uint8_t {
  done,          // pending, leased or dead before; also when it was cancelled already
  not_possible,  // completed or superseded
  gone,          // Presence::gone
  absent,        // no such delivery
};

enum class ReplayAs : std::uint8_t {
  // The same delivery, dead, cancelled or superseded, goes back to pending: same id, in its old
  // place of its lane, fresh fence, no failures or abandons, due at once.
  same,
  // A new delivery of the same event to the same destination, of one that is completed, dead,
  // cancelled or superseded: new id, outside lanes.
  as_new,
};

struct HowToReplay {
  ReplayAs as = ReplayAs::same;
  std::optional<DestinationNo> destination = {};  // only those of this one
  // `same`: also what is dead by its horizon; and the horizon counts anew (first_sent is unset).
  bool accept_duplicate = false;
  // Names this replay, so that it can be repeated after an unknown outcome: what was already done
  // under the same number is not done again and is answered as if it were done now. (But not a
  // replay as `same` whose delivery was completed since.) 0: no name.
  ReplayNo no{};
};

struct Replay {
  EventNo event;
  // This one; or, without: of all of the event's deliveries those that `as` allows; as_new only the
  // last of each destination. New ones are numbered in the order of those that they replay.
  std::optional<DeliveryNo> delivery = {};
  HowToReplay how = {};
};

struct Replayed {
  enum class Status : std::uint8_t {
    done,            // `deliveries` go
    not_replayable,  // none is in a state that `as` allows (completed ones need as_new)
    past_horizon,  // some are, all of them dead by their horizon, and accept_duplicate is not said
    too_many,      // the event has kMaxDeliveryNo deliveries
    gone,          // Presence::gone: the bytes are not there any more
    absent,        // no such event or delivery
  };
  Status status = Status::absent;
  std::vector<DeliveryNo> deliveries;  // that are pending now: of as_new the new ones
};

// A step of a replay of many: the events that match, oldest first, `limit` of them.
struct ReplayStep {
  EventFilter filter = {};
  HowToReplay how = {};
  EventNo after{};          // Replaying::after of the step before
  EventNo until = kNewest;  // with larger numbers none
  std::size_t limit = 100;  // 1 to kMaxStep
  bool dry = false;         // only count the events; change nothing
};

struct Replaying {
  std::size_t events = 0;      // matched in this step
  std::size_t deliveries = 0;  // that go
  EventNo after;
  bool done = false;
};

// ---------------------------------------------------------------------------------------------
// Retention.

struct Periods {
  SourceNo source;
  std::chrono::milliseconds keep{};       // of an event, after its last delivery ended
  std::chrono::milliseconds keep_dead{};  // in place of it while a delivery is dead
};

// One incremental step: scans about `limit` rows, resumes where the last one stopped, and never
// blocks others for long.
//
// An event is deleted as a whole when no delivery of it is pending, leased or the dead head of a
// blocked lane, and its retention has passed since the last of them ended (without any: since it
// was received). Deliveries of `listen` destinations do not delay it and are deleted with it.
// Events of sources that are not named here stay. Attempt rows are deleted with the event, but not
// before kKeepAttempts after their delivery's last one. A claim is deleted when it has expired and
// its event is gone; a lane when it is empty and its version has expired. Called until `done`, with
// nothing else in between, it leaves no deletable event; but those of a partition with more than
// 10,000 may stay for a day, until all of them can be deleted at once. A store may be later with
// the rest.
//
// The largest number removed is kept: below it what is not there is `gone`. (PostgreSQL: the
// largest that the store's time has come to. A number of a node whose clock is ahead says nothing
// of others.)
struct SweepStep {
  std::span<const Periods> periods;
  std::size_t limit = 500;  // 1 to kMaxStep
};

// The counts are for people: a step that was done again after a failed commit that took effect
// counts only what was left, so they may be too small; never too large.
struct Swept {
  std::size_t events = 0;
  std::size_t others = 0;  // claims, attempts, lanes
  bool done = false;       // everything was looked at since the last time this was true
};

// ---------------------------------------------------------------------------------------------
// Records: small texts by name that outlive the process and that all nodes share, for what is few
// and changes seldom: a replay of many that is under way, a developer's machine that listens.

inline constexpr std::size_t kMaxRecord = std::size_t{16} * 1024;  // bytes of one
inline constexpr std::size_t kMaxRecords = 1000;                   // in a store

struct Record {
  std::string name;  // as a source's: check_name()
  // Random, new for each write, so the writer recognises its own. Above 0.
  std::int64_t version = 0;
  std::string content;

  friend bool operator==(const Record&, const Record&) = default;
};

// ---------------------------------------------------------------------------------------------
// The rest.

enum class NameKind : std::uint8_t { source, destination };

struct KnownName {
  std::int64_t number = 0;
  std::string name;
};

using StoreSecret = std::array<unsigned char, 32>;

// Committed outbox messages become events with one delivery each: of source kOutboxSource and no
// tenant, with the message's UUID as the id, in the lane of the message's order key.
struct Moved {
  std::size_t messages = 0;  // under the numbers of this call, also by an earlier one with the same
  bool more = false;         // some are left, also where there were numbers for them
};

struct ReleaseStep {
  Holder::Kind kind = Holder::Kind::push;
  std::optional<std::int64_t> owner = {};  // nothing: all of that kind
  std::size_t limit = kMaxStep;
};

struct Released {
  std::size_t deliveries = 0;
  bool done = false;
};

// What a store with an inbox does besides write(). Thread-safe; blocks; never throws; an error says
// which of the three outcomes holds. Every call is atomic alone. Unless it says otherwise a call
// may be repeated after an unknown outcome, and the defaults here answer `misconfigured`, for
// stores without an inbox.
class InboxOperations {
 public:
  virtual ~InboxOperations() = default;

  // The number of a name, given at the first call and the same ever after, on every node.
  virtual Result<std::int64_t> number_of(NameKind kind, std::string_view name);
  virtual Result<std::vector<KnownName>> names(NameKind kind);  // by number

  // A node number for `owner` (not empty) alone until `lease` is over. Called again it keeps the
  // number and extends it; late, when the number went to another, it gives a new one, and the owner
  // must make no more event numbers with the old. A number that was never used goes first, then the
  // one that has been over for longest. store_full: all are taken.
  virtual Result<NodeNo> take_node(const Token& owner, std::chrono::milliseconds lease);
  virtual Result<void> leave_node(const Token& owner);  // expires at once; no-op without one

  // The store's own secret: `proposed` at the first call, the same ever after, on every node.
  virtual Result<StoreSecret> secret(const StoreSecret& proposed);

  // The event whose claim stands now, for each. For a look, never to decide: admit decides.
  virtual Result<std::vector<std::optional<EventNo>>> find(std::span<const WantedIdentity> wanted);
  virtual Result<EventPage> events(const EventQuery& query);
  virtual Result<Lookup<EventDetail>> event(EventNo number);
  // The bytes as they were received. last_variant: absent when there is none.
  virtual Result<Lookup<std::string>> body(EventNo number, BodyOf which);

  // Also what is leased: its holder's settle is stale then. Advances the lane.
  virtual Result<Cancelled> cancel(const DeliveryRef& which);
  virtual Result<Replayed> replay(const Replay& what);
  virtual Result<Replaying> replay_step(const ReplayStep& step);

  virtual Result<Swept> sweep(const SweepStep& step);

  // Makes what events of the next hours will need, so that no request has to wait for it. Without
  // it they make it themselves. To be called every now and then; a store with nothing to make
  // answers at once.
  virtual Result<void> make_ahead();

  // Not to be repeated after an unknown outcome: counts could double. They are for people.
  virtual Result<void> note_duplicates(std::span<const DuplicateNote> notes);

  // Keeps them, counts those that were dropped, and answers how many others made room. The counts
  // are for people: repeated after an unknown outcome they may be too large.
  virtual Result<std::size_t> add_rejects(const RejectBatch& batch);
  virtual Result<RejectPage> rejects(const RejectQuery& query);
  virtual Result<std::vector<RejectCounts>> reject_counts();  // by source
  virtual Result<std::optional<StoredReject>> reject(RejectNo number);
  virtual Result<bool> remove_reject(RejectNo number);  // false: it was not there
  virtual Result<void> remove_rejects(std::span<const RejectNo> numbers);

  // Kept in the store. A paused destination is admitted to and settled as ever, and not leased.
  virtual Result<void> pause(DestinationNo destination, bool paused);
  virtual Result<std::vector<DestinationNo>> paused();  // by number

  // A message in a transaction of its own, for callers without one; as Outbox::enqueue. A message
  // without a key must not be repeated after an unknown outcome; one with a key may, with its id.
  virtual Result<Enqueued> enqueue(const MessageId& id, const Message& message);
  // Moves committed messages, one for each number at most, whatever order they were committed in:
  // they are found by being there, never by a cursor. It may move fewer than there are numbers and
  // messages for, then with `more`: those that another transaction holds wait for another call.
  // Event numbers are used from the front, in the order of the messages' own numbers; so are places
  // in lanes. Repeated with the same numbers it counts what they have moved, and may move more
  // under those that are free. store_busy, and nothing moves, when a number is that of an event
  // that was no message.
  virtual Result<Moved> move_messages(std::span<const EventNo> numbers);

  // Frees leases of holders who are known to be dead: pending, due at once, fresh fence; nothing is
  // counted, and first_sent stays.
  virtual Result<Released> release_holder(const ReleaseStep& step);

  virtual Result<std::optional<Record>> record(std::string_view name);
  virtual Result<std::vector<Record>> records(std::string_view prefix);  // of the name; by name
  // Writes it in place of the one that has the version `before`; 0: where there is none. True: this
  // one is there, by this call or by an earlier one with the same version. False: it is not, and
  // nothing changed. store_full: there are kMaxRecords.
  virtual Result<bool> put_record(const Record& record, std::int64_t before);
  // True: none is there any more, by this call or before it. False: one with another version is.
  virtual Result<bool> remove_record(std::string_view name, std::int64_t version);

  virtual Result<Stats> stats();
  // Cheap enough to be asked every second. None, in a store that has no other referee than its
  // unique constraint.
  virtual Result<ClaimFaults> claim_faults();
};

// ---------------------------------------------------------------------------------------------

// The limits above; invalid_argument says which one was passed. Of a batch: of its first bad item.
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

// What the unique index compares: (source, tenant) as a group, then the key as it is, so that ids
// that are ordered by time stay so. See base/claim_key.hpp.
std::string event_claim_key(SourceNo source, std::string_view tenant, std::string_view key);
// The lane of an order key, within its destination.
std::string lane_key(SourceNo source, std::string_view tenant, std::string_view order_key);

// The outcome that a disposition leaves in the attempt row; nothing for Renew.
std::optional<AttemptOutcome> outcome_of(const Disposition& disposition);

// store_full, of put_record().
Error no_room_for_records();

// Whether a lapsed lease of this holder counts as abandoned.
constexpr bool counts_abandons(Holder::Kind kind) {
  return kind != Holder::Kind::push;
}

}  // namespace hapax::store
