// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/timeline.hpp"
#include "store/driver.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hapax::sim {

// Invariants of deliveries, checked by an observer that sees every executed call, also those whose
// answer was lost. Each broken rule is a failure with the oracle's name:
//
//   fence             fences only grow; only the newest lease can be settled, nothing else changes
//   two-leases        a delivery is leased once at a time, and not after its end
//   lane-lock         one live lease per lane
//   lane-order        nothing is leased while an earlier one of its lane is open
//   attempt-count     handler failures are counted, and nothing else is
//   attempt-charged   a failure was an attempt that failed
//   stale-attempt     no attempt begins under a lease that is over or another's
//   lost-effect       what is completed has had its effect
//   double-effect     one effect per event and destination (and for each replay as new)
//   effect-order      effects of a lane come in its order
//   bytes             what is delivered is what was sent
//   paused            nothing is leased of a paused destination
class Ledger {
 public:
  // `store` is asked about rows; it must not answer wrongly on purpose.
  Ledger(Timeline& timeline, const store::Driver& store) : timeline_(timeline), store_(store) {}

  struct Rules {
    std::size_t schedule = 0;  // entries
    BootTime timeout{};        // 0: attempts are not sent by a dispatcher
  };
  void add_destination(DestinationNo destination, const Rules& rules) {
    rules_[destination] = rules;
  }
  // What the sender of (source, id) sent.
  void sent(SourceNo source, const std::string& id, const std::string& body);

  // From the store, in the order in which it happened.
  void admitted(const store::Admit& admit, const store::AdmitAnswer& answer);
  void leased(const store::LeaseRequest& request, const store::Lease& lease);
  struct Before {
    std::optional<store::EventDetail> detail;
  };
  Before before(const store::Settlement& settlement);
  void settled(const store::Settlement& settlement, store::Settled answer, const Before& before);
  void cancelled(const DeliveryRef& which, store::Cancelled answer);
  void replayed(const store::Replay& what, const store::Replayed& answer);
  void paused(DestinationNo destination, bool paused);
  void released(const Holder& holder);  // all that it held

  // From transports, workers and handlers.
  void begins(DestinationNo to, const store::Leased& what);
  void failed(const DeliveryRef& which, Fence fence) { failures_.insert({which, fence}); }
  // False: the handler knows the key already.
  bool effect(DestinationNo to, const store::Leased& what);

  // Which lease of all this is, from 1: every store has fences of its own.
  std::size_t ordinal(Fence fence) const { return ordinals_.at(fence); }
  // Live leases of that holder.
  std::size_t held_by(const Holder& holder) const;
  // What stops this from being the end, in words; empty: every delivery has ended well.
  std::string not_ended();
  void check_end();

  std::vector<DeliveryRef> deliveries() const;
  std::vector<DeliveryRef> blocking();
  std::size_t effects() const { return effects_.size(); }
  std::size_t attempts() const { return begun_.size(); }

 private:
  struct Lease {
    Fence fence;
    Holder holder;
    std::int64_t until_ms = 0;
  };
  struct Entry {
    DestinationNo to;
    SourceNo source;
    std::string id;
    std::string lane;  // empty: none
    std::int64_t place = 0;
    std::optional<Lease> lease;
    std::map<Fence, AttemptOutcome> outcomes;
    unsigned attempts = 0;
    unsigned abandons = 0;
    unsigned anew = 0;  // replays as new of its event and destination
    bool ended = false;
    bool given_up = false;  // ended without an effect, at some time
    bool replayed = false;
  };
  using Lane = std::map<std::int64_t, DeliveryRef>;

  std::int64_t now_ms() const;
  std::optional<store::DeliveryRow> row_of(const DeliveryRef& which);
  void refresh(const DeliveryRef& which, Entry& entry);
  void add(const DeliveryRef& which, Entry entry);
  void take(const store::LeaseRequest& request, const store::Leased& leased);
  void check_lane(const DeliveryRef& which, const Entry& entry);
  void apply(const store::Settlement& settlement, Entry& entry);
  void check_push(const store::Settlement& settlement, const Entry& entry);
  void broken(std::string_view oracle, const DeliveryRef& which, const std::string& detail);

  Timeline& timeline_;
  const store::Driver& store_;
  std::map<DestinationNo, Rules> rules_;
  std::map<std::pair<SourceNo, std::string>, std::string> bodies_;
  std::map<DeliveryRef, Entry> entries_;
  std::map<std::pair<DestinationNo, std::string>, Lane> lanes_;
  std::map<std::tuple<DestinationNo, SourceNo, std::string>, unsigned> allowed_;  // effects
  std::map<std::tuple<DestinationNo, SourceNo, std::string>, unsigned> had_;
  std::set<DeliveryRef> effects_;
  std::set<std::pair<DeliveryRef, Fence>> begun_;
  std::set<std::pair<DeliveryRef, Fence>> failures_;
  std::set<DestinationNo> paused_;
  Fence last_fence_;
  std::map<Fence, std::size_t> ordinals_;
  std::int64_t last_place_ = 0;
};

// A queue that records what happens in `inner` in the ledger.
class WatchedQueue final : public store::Queue {
 public:
  WatchedQueue(store::Queue& inner, Ledger& ledger) : inner_(inner), ledger_(ledger) {}

  store::Answers write(const store::Batch& batch) override;
  Result<store::Cancelled> cancel(const DeliveryRef& which) override;
  Result<store::Replayed> replay(const store::Replay& what) override;
  Result<store::Replaying> replay_step(const store::ReplayStep& step) override {
    return inner_.replay_step(step);
  }
  Result<store::Released> release_holder(const store::ReleaseStep& step) override;
  Result<store::Swept> sweep(const store::SweepStep& step) override { return inner_.sweep(step); }
  Result<void> make_ahead() override { return inner_.make_ahead(); }
  Result<void> note_duplicates(std::span<const store::DuplicateNote> notes) override {
    return inner_.note_duplicates(notes);
  }
  Result<Enqueued> enqueue(const MessageId& id, const Message& message) override {
    return inner_.enqueue(id, message);
  }
  Result<store::Moved> move_messages(std::span<const EventNo> numbers) override {
    return inner_.move_messages(numbers);
  }

 private:
  store::Queue& inner_;
  Ledger& ledger_;
};

}  // namespace hapax::sim
