// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "compliance/inbox_suite.hpp"
#include "support/world.hpp"

#include <string>
#include <variant>
#include <vector>

// Random operations on an inbox: the same seed and the same answers give the same operations. They
// identify events, leases and destinations independently of the store, so that two stores can run
// the same operations side by side and be compared after each. A fence, which each store chooses,
// is identified by its lease.
namespace hapax::test {

// Settles a lease, identified by its index among all leases.
struct SettleOp {
  std::size_t lease = 0;
  enum class With : std::uint8_t { its_fence, another_fence, guessed_fence, nothing };
  With with = With::its_fence;
  std::size_t other = 0;  // the lease whose fence another_fence uses
  Disposition disposition = Ack{};
  int status = 0;
};

struct AdmitOp {
  std::vector<Incoming> arrivals;
  Would would = Would::none;
  bool guard = true;
};

struct LeaseOp {
  std::string destination;
  LeaseHow how;
};

// One batch.
struct WriteOp {
  std::vector<SettleOp> settle;
  std::vector<AdmitOp> admit;
  std::vector<LeaseOp> lease;
};
struct PassOp {  // time passes
  milliseconds by{};
  milliseconds jump{};  // of the wall clock
};
struct RestartOp {};
struct CancelOp {
  DeliveryRef which;
};
struct ReplayOp {
  Replay what;
  std::string destination;  // Replay::how.destination; empty: none
};
struct ReplayManyOp {
  HowToReplay how;
  std::optional<DeliveryState> status;
  std::string source;  // empty: all
  std::size_t limit = 10;
};
struct SweepOp {
  milliseconds keep{};
  milliseconds keep_dead{};
  std::size_t limit = 100;
};
struct NoteOp {
  EventNo event;
  std::uint64_t count = 0;
  std::string changed;  // a body; empty: not changed
};
struct RejectOp {
  RejectNo no;
  std::string source;
  bool remove = false;
};
struct PauseOp {
  std::string destination;
  bool paused = false;
};
struct MessageOp {
  MessageId id;
  std::string destination;
  std::string key;
  std::string order_key;
  std::string payload;
};
struct MoveOp {
  std::vector<EventNo> numbers;
};
struct ReleaseOp {
  ReleaseStep step;
};
struct NodeOp {
  unsigned char owner = 1;
  bool leave = false;
  milliseconds lease{};
};
struct ReadOp {
  EventNo event;
  std::string source;  // of the list and of find
  std::string id;
  std::optional<DeliveryState> status;
  std::size_t page = 10;
};

using Operation =
    std::variant<WriteOp, PassOp, RestartOp, CancelOp, ReplayOp, ReplayManyOp, SweepOp, NoteOp,
                 RejectOp, PauseOp, MessageOp, MoveOp, ReleaseOp, NodeOp, ReadOp>;

std::string describe(const Operation& operation);

// The history that later operations depend on.
struct Known {
  std::vector<EventNo> events;      // the fresh ones
  std::vector<DeliveryRef> leases;  // in the order they were granted
};

class OperationSource {
 public:
  explicit OperationSource(std::uint64_t seed) : random_(seed) {}

  Operation next(const Known& known);

  static const std::vector<std::string>& sources();       // kOutboxSource is the last
  static const std::vector<std::string>& destinations();  // the last one listens

 private:
  bool chance(unsigned percent) { return random_.below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  EventNo new_number() { return EventNo(++last_number_); }
  EventNo some_event(const Known& known);

  Incoming arrival(const Known& known);
  AdmitOp admit(const Known& known);
  LeaseOp lease();
  SettleOp settle(const Known& known);
  Disposition disposition();
  WriteOp write(const Known& known);
  ReplayOp replay(const Known& known);
  ReplayManyOp replay_many();
  PassOp pass();
  MessageOp message();
  Operation rare(const Known& known);

  SeededRandom random_;
  std::int64_t last_number_ = 1000;
  std::int64_t last_replay_ = 0;
  std::int64_t last_swept_ = 0;    // events up to this number may be gone
  std::vector<AdmitOp> admitted_;  // the last few since then, for repeats
};

// Runs `operations` operations from `seed` on two empty stores. Fails the test at the first
// difference, with the seed and the preceding operations.
void compare_inboxes(InboxSubject& model, InboxSubject& other, std::uint64_t seed, int operations,
                     bool late_cleanup = false);

}  // namespace hapax::test
