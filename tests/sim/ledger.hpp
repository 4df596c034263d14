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

// Checks the invariants of deliveries. Observes every executed call, including those whose answer
// was lost. Each violation is a failure with the oracle's name:
//
//   fence             fences only grow; only the newest lease can be settled; a stale settle
//   changes
//                     nothing
//   two-leases        a delivery has one lease at a time, and none after its end
//   lane-lock         one live lease per lane
//   lane-order        no delivery is leased while an earlier one of its lane is open
//   attempt-count     handler failures are counted, and nothing else is
//   attempt-charged   every counted failure was a failed attempt
//   stale-attempt     no attempt begins under an expired lease or another holder's
//   lost-effect       every completed delivery has had its effect
//   double-effect     one effect per event and destination (and for each replay as new)
//   effect-order      the effects of a lane occur in lane order
//   bytes             the delivered bytes are the sent bytes
//   paused            nothing is leased from a paused destination
class Ledger {
 public:
  // Reads rows from `store`, which must not inject faults.
  Ledger(Timeline& timeline, const store::Driver& store) : timeline_(timeline), store_(store) {}

  struct Rules {
    std::size_t schedule = 0;  // entries
    BootTime timeout{};        // 0: attempts are not made by a dispatcher
  };
  void add_destination(DestinationNo destination, const Rules& rules) {
    rules_[destination] = rules;
  }
  // Records the body sent for (source, id).
  void sent(SourceNo source, const std::string& id, const std::string& body);

  // Called by the store, in execution order.
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
  void released(const Holder& holder);  // all leases of the holder

  // Called by transports, workers and handlers.
  void begins(DestinationNo to, const store::Leased& what);
  void failed(const DeliveryRef& which, Fence fence) { failures_.insert({which, fence}); }
  // Returns false if the handler has already processed the key.
  bool effect(DestinationNo to, const store::Leased& what);

  // The index of the lease among all leases, from 1. Comparable between stores, unlike fences.
  std::size_t ordinal(Fence fence) const { return ordinals_.at(fence); }
  // The number of live leases of the holder.
  std::size_t held_by(const Holder& holder) const;
  // Describes a delivery that has not ended; empty if all have ended.
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
    bool given_up = false;  // ended without an effect at some time
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
  std::map<std::tuple<DestinationNo, SourceNo, std::string>, unsigned> effects_had_;
  std::set<DeliveryRef> effects_;
  std::set<std::pair<DeliveryRef, Fence>> begun_;
  std::set<std::pair<DeliveryRef, Fence>> failures_;
  std::set<DestinationNo> paused_;
  Fence last_fence_;
  std::map<Fence, std::size_t> ordinals_;
  std::int64_t last_place_ = 0;
};

// A queue that records the calls to `inner` in the ledger.
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
