// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/ledger.hpp"

#include "store/driver.hpp"

#include <algorithm>
#include <tuple>

namespace hapax::sim {

namespace {

using store::DeliveryRow;
using store::Settled;

bool is_end(const DeliveryRow& row) {
  return row.state != DeliveryState::pending && row.state != DeliveryState::leased;
}

// All fields that a settle could change.
auto facts(const DeliveryRow& row) {
  const Holder holder = row.holder.value_or(Holder{});
  return std::tuple(row.no, row.to, row.state, row.reason, row.ended, row.attempts, row.abandons,
                    row.due, row.waiting, row.blocking, holder.kind, holder.owner, row.first_sent);
}

bool same(const store::EventDetail& a, const store::EventDetail& b) {
  return a.attempts.size() == b.attempts.size() &&
         std::equal(a.deliveries.begin(), a.deliveries.end(), b.deliveries.begin(),
                    b.deliveries.end(), [](const DeliveryRow& left, const DeliveryRow& right) {
                      return facts(left) == facts(right);
                    });
}

}  // namespace

// In store time.
std::int64_t Ledger::now_ms() const {
  return std::chrono::duration_cast<milliseconds>(timeline_.now()).count();
}

void Ledger::broken(std::string_view oracle, const DeliveryRef& which, const std::string& detail) {
  timeline_.fail(oracle, to_text(which) + ": " + detail);
}

void Ledger::sent(SourceNo source, const std::string& id, const std::string& body) {
  bodies_[{source, id}] = body;
}

std::optional<DeliveryRow> Ledger::row_of(const DeliveryRef& which) {
  const auto found = store_.catalog->event(which.event);
  if (!found || !found->value) return std::nullopt;
  for (const DeliveryRow& each : found->value->deliveries) {
    if (each.no == which.delivery) return each;
  }
  return std::nullopt;
}

// Other calls may have ended the delivery in the store, or taken it back after its lease expired.
void Ledger::refresh(const DeliveryRef& which, Entry& entry) {
  const std::optional<DeliveryRow> row = row_of(which);
  if (!row) return broken("lost", which, "the delivery no longer exists");
  if (is_end(*row) || row->waiting) entry.lease.reset();
  if (!is_end(*row)) return;
  entry.ended = !row->blocking;
  if (row->state != DeliveryState::completed) entry.given_up = true;
}

void Ledger::add(const DeliveryRef& which, Entry entry) {
  entry.place = ++last_place_;
  if (!entry.lane.empty()) lanes_[{entry.to, entry.lane}].emplace(entry.place, which);
  entries_[which] = std::move(entry);
}

void Ledger::admitted(const store::Admit& admit, const store::AdmitAnswer& answer) {
  if (!answer) return;
  for (std::size_t i = 0; i < admit.arrivals.size(); ++i) {
    const store::Arrival& arrival = admit.arrivals[i];
    const bool fresh = (*answer)[i].kind == store::Admission::Kind::fresh;
    std::int64_t ordinal = 0;
    for (const store::Target& each : arrival.targets) {
      const DeliveryRef which{arrival.no, DeliveryNo(++ordinal)};
      if (!fresh || entries_.contains(which)) continue;
      Entry entry;
      entry.to = each.to;
      entry.source = arrival.source;
      entry.id = arrival.id;
      if (!arrival.order_key.empty()) {
        entry.lane = store::lane_key(arrival.source, arrival.tenant, arrival.order_key);
      }
      allowed_[{each.to, arrival.source, entry.id}] = 1;  // even for another event
      add(which, std::move(entry));
    }
  }
}

void Ledger::leased(const store::LeaseRequest& request, const store::Lease& lease) {
  if (paused_.contains(request.from) && !lease.deliveries.empty()) {
    broken("paused", {lease.deliveries[0].event.no, lease.deliveries[0].delivery}, "leased");
  }
  for (const store::Leased& each : lease.deliveries) take(request, each);
}

void Ledger::take(const store::LeaseRequest& request, const store::Leased& leased) {
  const DeliveryRef which{leased.event.no, leased.delivery};
  if (leased.fence <= last_fence_) broken("fence", which, "a lease has no larger fence");
  last_fence_ = leased.fence;
  ordinals_.emplace(leased.fence, ordinals_.size() + 1);
  const auto found = entries_.find(which);
  if (found == entries_.end()) return broken("lost", which, "leased but never admitted");
  Entry& entry = found->second;
  if (entry.ended) broken("two-leases", which, "leased after its end");
  if (entry.lease && now_ms() < entry.lease->until_ms) {
    broken("two-leases", which, "leased while another holder has it");
  }
  if (entry.lease && store::counts_abandons(entry.lease->holder.kind)) ++entry.abandons;
  if (leased.attempt != entry.attempts + 1 || leased.abandons != entry.abandons) {
    broken("attempt-count", which,
           "attempt " + std::to_string(leased.attempt) + ", abandons " +
               std::to_string(leased.abandons) + " after " + std::to_string(entry.attempts) +
               " failures and " + std::to_string(entry.abandons) + " expired leases");
  }
  check_lane(which, entry);
  entry.lease = Lease{leased.fence, request.holder, now_ms() + request.lease.count()};
}

void Ledger::check_lane(const DeliveryRef& which, const Entry& entry) {
  if (entry.lane.empty()) return;
  for (const auto& [place, other] : lanes_[{entry.to, entry.lane}]) {
    if (other == which) continue;
    Entry& neighbour = entries_.at(other);
    if (neighbour.ended) continue;
    refresh(other, neighbour);
    if (neighbour.ended) continue;
    if (neighbour.lease && now_ms() < neighbour.lease->until_ms) {
      broken("lane-lock", which, "leased while " + to_text(other) + " of its lane is");
    }
    if (place < entry.place && !neighbour.replayed) {
      broken("lane-order", which, "leased before " + to_text(other) + " has ended");
    }
  }
}

Ledger::Before Ledger::before(const store::Settlement& settlement) {
  const auto found = store_.catalog->event(settlement.which.event);
  if (const auto entry = entries_.find(settlement.which); entry != entries_.end()) {
    refresh(settlement.which, entry->second);
  }
  return {found && found->value ? found->value : std::nullopt};
}

void Ledger::settled(const store::Settlement& settlement, Settled answer, const Before& before) {
  const DeliveryRef& which = settlement.which;
  const auto found = entries_.find(which);
  if (found == entries_.end()) {
    if (answer != Settled::unknown) broken("fence", which, "settled but never admitted");
    return;
  }
  Entry& entry = found->second;
  const bool held = entry.lease && entry.lease->fence == settlement.fence;
  if (held) {
    if (answer != Settled::ok) broken("fence", which, "the holder's settle was refused");
    return apply(settlement, entry);
  }
  const auto outcome = entry.outcomes.find(settlement.fence);
  const bool again = outcome != entry.outcomes.end() &&
                     outcome->second == store::outcome_of(settlement.disposition);
  if ((answer == Settled::ok) != again) {
    broken("fence", which, again ? "a repeated settle was refused" : "an old lease was settled");
  }
  const auto after = store_.catalog->event(which.event);
  if (!before.detail || !after || !after->value || !same(*before.detail, *after->value)) {
    broken("fence", which, "a settle of an old lease changed something");
  }
}

void Ledger::apply(const store::Settlement& settlement, Entry& entry) {
  if (std::holds_alternative<Renew>(settlement.disposition)) {
    entry.lease->until_ms = now_ms() + std::get<Renew>(settlement.disposition).lease.count();
    return;
  }
  check_push(settlement, entry);
  entry.outcomes[settlement.fence] = *store::outcome_of(settlement.disposition);
  entry.lease.reset();
  const bool dead = std::holds_alternative<Dead>(settlement.disposition);
  if (dead || std::holds_alternative<RetryIn>(settlement.disposition)) ++entry.attempts;
  refresh(settlement.which, entry);
  const std::optional<DeliveryRow> row = row_of(settlement.which);
  const bool completed = std::holds_alternative<Ack>(settlement.disposition);
  if (row && (row->state == DeliveryState::completed) != completed) {
    broken("settle", settlement.which, "it is " + std::string(name(row->state)) + " now");
  }
  if (completed && !effects_.contains(settlement.which)) {
    broken("lost-effect", settlement.which, "completed without an effect");
  }
}

// A dispatcher must report an attempt as the transport saw it.
void Ledger::check_push(const store::Settlement& settlement, const Entry& entry) {
  const std::pair attempt(settlement.which, settlement.fence);
  const bool dead = std::holds_alternative<Dead>(settlement.disposition);
  if ((dead || std::holds_alternative<RetryIn>(settlement.disposition)) &&
      !failures_.contains(attempt)) {
    broken("attempt-charged", settlement.which, "no attempt under this lease has failed");
  }
  const Rules& rules = rules_[entry.to];
  if (rules.timeout == BootTime(0)) return;
  if (dead && std::get<Dead>(settlement.disposition).reason == EndReason::exhausted &&
      entry.attempts != rules.schedule) {
    broken("attempt-charged", settlement.which,
           "dead after " + std::to_string(entry.attempts + 1) + " failures");
  }
  const auto* release = std::get_if<Release>(&settlement.disposition);
  if (release != nullptr && !release->sent && begun_.contains(attempt)) {
    broken("attempt-charged", settlement.which, "reported as not sent, but it was");
  }
}

void Ledger::cancelled(const DeliveryRef& which, store::Cancelled answer) {
  const auto found = entries_.find(which);
  if (answer != store::Cancelled::done || found == entries_.end()) return;
  found->second.ended = true;
  found->second.given_up = true;
  found->second.lease.reset();
}

void Ledger::replayed(const store::Replay& what, const store::Replayed& answer) {
  for (const DeliveryNo each : answer.deliveries) {
    const DeliveryRef which{what.event, each};
    const std::optional<DeliveryRow> row = row_of(which);
    if (!row) return broken("lost", which, "replayed but missing");
    if (entries_.contains(which)) {
      Entry& entry = entries_[which];
      entry.ended = false;
      entry.replayed = entry.given_up = true;
      entry.attempts = entry.abandons = 0;
      entry.lease.reset();
      for (const auto& [place, other] : lanes_[{entry.to, entry.lane}])
        refresh(other, entries_[other]);
      continue;
    }
    const Entry& old = entries_.at({what.event, *row->replay_of});
    Entry entry;
    entry.to = old.to;
    entry.source = old.source;
    entry.id = old.id;
    ++allowed_[{entry.to, entry.source, entry.id}];
    add(which, std::move(entry));
  }
}

void Ledger::paused(DestinationNo destination, bool paused) {
  if (paused) {
    paused_.insert(destination);
  } else {
    paused_.erase(destination);
  }
}

void Ledger::released(const Holder& holder) {
  for (auto& [which, entry] : entries_) {
    if (entry.lease && entry.lease->holder == holder) entry.lease.reset();
  }
}

void Ledger::begins(DestinationNo to, const store::Leased& what) {
  const DeliveryRef which{what.event.no, what.delivery};
  const auto found = entries_.find(which);
  if (found == entries_.end() || found->second.to != to) {
    return broken("stale-attempt", which, "it is for another destination");
  }
  if (!begun_.insert({which, what.fence}).second) {
    broken("stale-attempt", which, "a second attempt under one lease");
  }
  const std::optional<Lease>& lease = found->second.lease;
  if (!lease) return;  // ended by an operator since
  if (lease->fence != what.fence)
    broken("stale-attempt", which, "another holder has a newer lease");
  if (now_ms() + rules_[to].timeout / milliseconds(1) > lease->until_ms) {
    broken("stale-attempt", which, "its lease ends before its timeout");
  }
}

bool Ledger::effect(DestinationNo to, const store::Leased& what) {
  const DeliveryRef which{what.event.no, what.delivery};
  const auto found = entries_.find(which);
  if (found == entries_.end()) return broken("lost", which, "delivered, never admitted"), false;
  const Entry& entry = found->second;
  const auto body = bodies_.find({what.event.source, what.event.id});
  if (body == bodies_.end() || body->second != what.event.body) {
    broken("bytes", which, "not what was sent");
  }
  if (!effects_.insert(which).second) return false;
  const std::tuple identity(to, entry.source, entry.id);
  if (++effects_had_[identity] > allowed_[identity]) {
    broken("double-effect", which,
           "effect " + std::to_string(effects_had_[identity]) + " of " + entry.id);
  }
  if (entry.lane.empty() || entry.replayed) return true;
  for (const auto& [place, other] : lanes_[{entry.to, entry.lane}]) {
    if (place >= entry.place) break;
    Entry& earlier = entries_.at(other);
    if (effects_.contains(other) || earlier.given_up || earlier.replayed) continue;
    refresh(other, earlier);
    if (!earlier.given_up) broken("effect-order", which, "before " + to_text(other));
  }
  return true;
}

std::size_t Ledger::held_by(const Holder& holder) const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [&](const auto& each) {
        const std::optional<Lease>& lease = each.second.lease;
        return lease && lease->holder == holder && now_ms() < lease->until_ms;
      }));
}

std::vector<DeliveryRef> Ledger::deliveries() const {
  std::vector<DeliveryRef> all;
  for (const auto& [which, entry] : entries_) all.push_back(which);
  return all;
}

std::vector<DeliveryRef> Ledger::blocking() {
  std::vector<DeliveryRef> found;
  for (const auto& [which, entry] : entries_) {
    const std::optional<DeliveryRow> row = entry.ended ? std::nullopt : row_of(which);
    if (row && row->blocking) found.push_back(which);
  }
  return found;
}

std::string Ledger::not_ended() {
  for (auto& [which, entry] : entries_) {
    if (entry.ended) continue;
    refresh(which, entry);
    if (entry.ended) continue;
    const std::optional<DeliveryRow> row = row_of(which);
    return to_text(which) + " is " + (row ? std::string(name(row->state)) : "gone");
  }
  return {};
}

void Ledger::check_end() {
  std::map<std::pair<DestinationNo, EventNo>, int> first_ones;
  for (auto& [which, entry] : entries_) {
    const std::optional<DeliveryRow> row = row_of(which);
    if (!row) return broken("lost", which, "gone");
    if (row->state == DeliveryState::completed && !effects_.contains(which)) {
      broken("lost-effect", which, "completed without an effect");
    }
    const bool once = row->replay_of || ++first_ones[{row->to, which.event}] == 1;
    if (!once) broken("double-effect", which, "a second delivery of its event");
    if (entry.lease) broken("leak", which, "it is still leased");
  }
}

store::Answers WatchedQueue::write(const store::Batch& batch) {
  store::Answers all;
  for (const store::Settlement& each : batch.settle) {
    const Ledger::Before before = ledger_.before(each);
    store::Answers one = inner_.write({.settle = {&each, 1}});
    ledger_.settled(each, one.settle->front(), before);
    all.settle->push_back(one.settle->front());
  }
  for (const store::Admit& each : batch.admit) {
    store::Answers one = inner_.write({.admit = {&each, 1}});
    ledger_.admitted(each, one.admit.front());
    all.admit.push_back(std::move(one.admit.front()));
  }
  for (const store::LeaseRequest& each : batch.lease) {
    store::Answers one = inner_.write({.lease = {&each, 1}});
    ledger_.leased(each, one.lease->front());
    all.lease->push_back(std::move(one.lease->front()));
  }
  return all;
}

Result<store::Cancelled> WatchedQueue::cancel(const DeliveryRef& which) {
  Result<store::Cancelled> done = inner_.cancel(which);
  if (done) ledger_.cancelled(which, *done);
  return done;
}

Result<store::Replayed> WatchedQueue::replay(const store::Replay& what) {
  Result<store::Replayed> done = inner_.replay(what);
  if (done) ledger_.replayed(what, *done);
  return done;
}

Result<store::Released> WatchedQueue::release_holder(const store::ReleaseStep& step) {
  Result<store::Released> done = inner_.release_holder(step);
  if (done) ledger_.released({step.kind, *step.owner});
  return done;
}

}  // namespace hapax::sim
