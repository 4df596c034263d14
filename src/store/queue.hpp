// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/outbox.hpp>

#include "store/batch.hpp"
#include "store/event_filter.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// The queue of an inbox: admitting events, leasing and settling their deliveries, and everything
// else that changes them. It is tested by tests/compliance/inbox_*; the memory store is the model
// that the others are compared with.
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
// Outbox messages, and leases of dead holders.

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

// ---------------------------------------------------------------------------------------------
// The contract. The capabilities `inbox` and `outbox`. Thread-safe; the calls block and never
// throw. An error has one of the three outcomes. Each call is atomic by itself, except that an item
// of a batch is, and that sweep() and release_holder() may stop after a part. Unless noted
// otherwise, a call may be repeated after an unknown outcome.
class Queue {
 public:
  virtual ~Queue() = default;

  // See store/batch.hpp. A store resolves an unknown outcome itself, by repeating the statement
  // with the same numbers and fences, and reports `unknown` only where it cannot.
  virtual Answers write(const Batch& batch) = 0;

  // Also cancels leased deliveries: the holder's settle is then stale. Advances the lane.
  virtual Result<Cancelled> cancel(const DeliveryRef& which) = 0;
  virtual Result<Replayed> replay(const Replay& what) = 0;
  virtual Result<Replaying> replay_step(const ReplayStep& step) = 0;

  // Releases the leases of holders known to be dead: pending, due at once, old fence invalid. No
  // abandon is counted, and first_sent is kept.
  virtual Result<Released> release_holder(const ReleaseStep& step) = 0;
  virtual Result<Swept> sweep(const SweepStep& step) = 0;

  // Creates in advance the partitions for the events of today and tomorrow, so that no request
  // waits for them. Otherwise requests create them on demand. To be called periodically; a no-op in
  // stores without partitions.
  virtual Result<void> make_ahead() = 0;

  // Must not be repeated after an unknown outcome: the counts, for display only, could double.
  virtual Result<void> note_duplicates(std::span<const DuplicateNote> notes) = 0;

  // As Outbox::enqueue, in a transaction of its own, for callers without one. After an unknown
  // outcome a message with a key may be repeated, with its id; one without a key must not.
  virtual Result<Enqueued> enqueue(const MessageId& id, const Message& message) = 0;
  // Moves committed messages into the queue, at most one per number, in whatever order they were
  // committed: messages are found by a scan, never by a cursor. It may move fewer and then sets
  // `more`: messages locked by another transaction wait for another call. Event numbers are used in
  // order, by message number; so are positions in lanes. A repeated call counts the messages
  // already moved under the same numbers, and may move more under unused ones. store_busy, and
  // nothing is moved, if a number belongs to an event that was not a message.
  virtual Result<Moved> move_messages(std::span<const EventNo> numbers) = 0;
};

// invalid_argument: exceeds a limit; names the first one.
Result<void> check(const ReplayStep& step);
Result<void> check(const SweepStep& step);
Result<void> check(const DuplicateNote& note);

}  // namespace hapax::store
