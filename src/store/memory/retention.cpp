// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/retention.hpp"

namespace hapax::store::memory {

namespace {

// One step of retention, over at most `limit` rows.
class Step {
 public:
  Step(Tables& tables, const SweepStep& step, std::int64_t now)
      : tables_(tables), step_(step), now_(now), left_(step.limit) {}

  Swept run() {
    SweepCursor& at = tables_.cursor;
    using Phase = SweepCursor::Phase;
    if (at.phase == Phase::events && !walk_events()) return swept_;
    if (at.phase == Phase::attempts && !walk_attempts()) return swept_;
    if (at.phase == Phase::claims && !walk_claims()) return swept_;
    if (!walk_lanes()) return swept_;
    at = SweepCursor{};
    swept_.done = true;
    return swept_;
  }

 private:
  // Walks `rows` after `cursor` and removes those that `may_go`. True at their end.
  template <class Rows, class Key, class MayGo>
  bool walk(Rows& rows, Key& cursor, MayGo may_go) {
    auto each = rows.upper_bound(cursor);
    for (; each != rows.end(); --left_) {
      if (left_ == 0) return false;
      cursor = each->first;
      if (may_go(each->second)) {
        each = rows.erase(each);
        ++swept_.others;
      } else {
        ++each;
      }
    }
    return true;
  }

  bool walk_events() {
    std::vector<EventNo> going;
    auto each = tables_.events.upper_bound(tables_.cursor.event);
    for (; each != tables_.events.end() && left_ > 0; ++each, --left_) {
      tables_.cursor.event = each->first;
      if (may_go(each->second)) going.push_back(each->first);
    }
    const bool all = each == tables_.events.end();
    for (const EventNo no : going) remove(no);
    if (all) tables_.cursor.phase = SweepCursor::Phase::attempts;
    return all;
  }

  bool may_go(const Event& event) const {
    const auto periods =
        std::find_if(step_.periods.begin(), step_.periods.end(),
                     [&](const Periods& each) { return each.source == event.source; });
    if (periods == step_.periods.end() || tables_.holds(event.no)) return false;
    std::int64_t ended_ms = event.received_ms;
    bool dead = false;
    const auto [first, last] = tables_.deliveries_of(event.no);
    for (auto each = first; each != last; ++each) {
      if (each->second.listen) continue;
      ended_ms = std::max(ended_ms, each->second.ended_ms.value_or(0));
      dead = dead || each->second.state == QueueState::dead;
    }
    return is_expired(ended_ms + (dead ? periods->keep_dead : periods->keep).count(), now_);
  }

  void remove(EventNo no) {
    const auto found = tables_.events.find(no);
    tables_.bytes -= found->second.size;
    const auto [first, last] = tables_.deliveries_of(no);
    for (auto each = first; each != last; ++each) {
      tables_.due.erase({each->second.to, each->second.due_ms, each->first});
    }
    tables_.deliveries.erase(first, last);
    tables_.events.erase(found);
    tables_.floor = std::max(tables_.floor, no);
    ++swept_.events;
  }

  // The attempts of one delivery expire together, by the last of them.
  bool walk_attempts() {
    const auto settled_last = [&](const DeliveryRef& ref) {
      WallTime last{};
      auto each = tables_.attempts.lower_bound({ref, Fence(0)});
      for (; each != tables_.attempts.end() && each->first.first == ref; ++each) {
        last = std::max(last, each->second.settled);
      }
      return last;
    };
    std::vector<AttemptKey> going;
    auto each = tables_.attempts.upper_bound(tables_.cursor.attempt);
    for (; each != tables_.attempts.end() && left_ > 0; ++each, --left_) {
      const AttemptKey& key = tables_.cursor.attempt = each->first;
      if (tables_.events.contains(key.first.event)) continue;
      if (settled_last(key.first) + kKeepAttempts <= wall(now_)) going.push_back(key);
    }
    const bool all = each == tables_.attempts.end();
    for (const AttemptKey& key : going) tables_.attempts.erase(key);
    swept_.others += going.size();
    if (all) tables_.cursor.phase = SweepCursor::Phase::claims;
    return all;
  }

  bool walk_claims() {
    const bool all = walk(tables_.claims, tables_.cursor.claim, [&](const EventClaim& claim) {
      return is_expired(claim.expires_ms, now_) && !tables_.events.contains(claim.event);
    });
    if (all) tables_.cursor.phase = SweepCursor::Phase::lanes;
    return all;
  }

  bool walk_lanes() {
    return walk(tables_.lanes, tables_.cursor.lane, [&](const Lane& lane) {
      const bool stands = lane.version && !is_expired(lane.version_until_ms, now_);
      return lane.members.empty() && !stands;
    });
  }

  Tables& tables_;
  const SweepStep& step_;
  const std::int64_t now_;
  std::size_t left_;
  Swept swept_;
};

}  // namespace

Swept sweep(Tables& tables, const SweepStep& step, std::int64_t now) {
  return Step(tables, step, now).run();
}

}  // namespace hapax::store::memory
