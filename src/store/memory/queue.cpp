// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/queue.hpp"

#include "store/memory/lanes.hpp"

namespace hapax::store::memory {

namespace {

std::vector<DeliveryRef> due_of(const Tables& tables, const LeaseRequest& request,
                                std::int64_t now) {
  std::vector<DeliveryRef> found;
  auto each = tables.due.lower_bound(
      {request.from, std::numeric_limits<std::int64_t>::min(), DeliveryRef{}});
  for (; each != tables.due.end() && found.size() < request.max; ++each) {
    const auto& [destination, due_ms, ref] = *each;
    if (destination != request.from || due_ms > now) break;
    found.push_back(ref);
  }
  return found;
}

StoredEvent stored(const Event& event) {
  return {event.no,   event.source,  event.tenant, event.id,
          event.type, event.headers, event.body,   wall(event.received_ms),
          event.would};
}

Leased take(Tables& tables, Delivery& delivery, const LeaseRequest& request, std::int64_t now) {
  hold(tables, delivery, now + request.lease.count());
  delivery.holder = request.holder;
  delivery.fence = tables.next_fence();
  if (!delivery.first_sent_ms) {
    delivery.first_sent_ms = now;
    delivery.first_fence = delivery.fence;
  }
  return {delivery.ref.delivery,
          delivery.fence,
          delivery.attempts + 1,
          delivery.abandons,
          wall(delivery.due_ms),
          delivery.replay_of,
          stored(tables.events.at(delivery.ref.event))};
}

// Leases the delivery, ends it, or leaves it unchanged: see Lease in store/batch.hpp.
std::optional<Leased> try_lease(Tables& tables, Delivery& delivery, const LeaseRequest& request,
                                std::int64_t now, Budget& budget) {
  const bool lapsed = delivery.holder && counts_abandons(delivery.holder->kind);
  const unsigned abandons = delivery.abandons + (lapsed ? 1 : 0);
  const bool abandoned = lapsed && request.max_abandons > 0 && abandons >= request.max_abandons;
  const bool late = request.horizon.count() > 0 && delivery.first_sent_ms &&
                    is_expired(*delivery.first_sent_ms + request.horizon.count(), now);
  const bool outdated = is_outdated(tables, delivery, now);
  if (outdated && !abandoned && !late && budget.superseded == 0) return std::nullopt;
  delivery.abandons = abandons;
  if (abandoned || late) {
    const EndReason reason = abandoned ? EndReason::abandoned : EndReason::horizon;
    die(tables, delivery, reason, request.on_dead, now, budget);
    return std::nullopt;
  }
  if (outdated) {
    --budget.superseded;
    end(tables, delivery, QueueState::superseded, EndReason::none, now, budget);
    return std::nullopt;
  }
  return take(tables, delivery, request, now);
}

class Settling {
 public:
  Settling(Tables& tables, Delivery& delivery, std::int64_t now)
      : tables_(tables), delivery_(delivery), now_(now) {}

  void operator()(const Ack&) {
    move_version(tables_, delivery_, now_);
    end(tables_, delivery_, QueueState::completed, EndReason::none, now_, budget_);
    forget();
  }
  void operator()(const RetryIn& retry) {
    ++delivery_.attempts;
    note_sent(retry.sent);
    requeue(tables_, delivery_, now_ + retry.delay.count(), now_);
  }
  void operator()(const Drop&) {
    end(tables_, delivery_, QueueState::cancelled, EndReason::dropped, now_, budget_);
  }
  void operator()(const Dead& dead) {
    ++delivery_.attempts;
    die(tables_, delivery_, dead.reason, dead.on_dead, now_, budget_);
  }
  void operator()(const Renew& renew) { hold(tables_, delivery_, now_ + renew.lease.count()); }
  void operator()(const Release& release) {
    note_sent(release.sent);
    requeue(tables_, delivery_, now_, now_);
  }

 private:
  void note_sent(bool sent) {
    if (!sent && delivery_.first_fence == delivery_.fence) delivery_.first_sent_ms.reset();
  }
  // As in the other stores, which keep no row of a completed delivery: only a delivery made by a
  // replay keeps its replay number.
  void forget() {
    delivery_.attempts = 0;
    delivery_.abandons = 0;
    delivery_.first_sent_ms.reset();
    if (!delivery_.replay_of) delivery_.replay = ReplayNo();
  }

  Tables& tables_;
  Delivery& delivery_;
  const std::int64_t now_;
  Budget budget_;
};

void record(Tables& tables, const Settlement& settlement, AttemptOutcome outcome,
            std::int64_t now) {
  const AttemptNote& note = settlement.note;
  tables.attempts[{settlement.which, settlement.fence}] = {settlement.which.delivery,
                                                           settlement.fence,
                                                           outcome,
                                                           wall(now),
                                                           note.when,
                                                           note.took,
                                                           note.status,
                                                           std::string(note.error),
                                                           std::string(note.excerpt)};
}

// The fence is not that of a current lease: the attempt row decides.
Settled settled_before(const Tables& tables, const Settlement& settlement) {
  const auto attempt = tables.attempts.find({settlement.which, settlement.fence});
  if (attempt != tables.attempts.end()) {
    const bool same = attempt->second.outcome == outcome_of(settlement.disposition);
    return same ? Settled::ok : Settled::stale;
  }
  const auto any = tables.attempts.lower_bound({settlement.which, Fence(0)});
  const bool tried = any != tables.attempts.end() && any->first.first == settlement.which;
  return tried || tables.deliveries.contains(settlement.which) ? Settled::stale : Settled::unknown;
}

}  // namespace

Lease lease(Tables& tables, const LeaseRequest& request, std::int64_t now) {
  Lease answer;
  if (tables.paused.contains(request.from)) return answer;
  const std::vector<DeliveryRef> due = due_of(tables, request, now);
  std::size_t bytes = 0;
  Budget budget;
  for (const DeliveryRef& each : due) {
    if (bytes >= kMaxLeaseBytes) break;
    std::optional<Leased> leased =
        try_lease(tables, tables.deliveries.at(each), request, now, budget);
    if (!leased) continue;
    bytes += leased->event.headers.size() + leased->event.body.size();
    answer.deliveries.push_back(std::move(*leased));
  }
  answer.passed = due.size() - answer.deliveries.size();
  return answer;
}

Settled settle(Tables& tables, const Settlement& settlement, std::int64_t now) {
  const auto found = tables.deliveries.find(settlement.which);
  const bool held = found != tables.deliveries.end() && found->second.holder &&
                    found->second.state == QueueState::open &&
                    found->second.fence == settlement.fence;
  if (!held) return settled_before(tables, settlement);
  std::visit(Settling(tables, found->second, now), settlement.disposition);
  const std::optional<AttemptOutcome> outcome = outcome_of(settlement.disposition);
  if (outcome) record(tables, settlement, *outcome, now);
  return Settled::ok;
}

Released release_holder(Tables& tables, const ReleaseStep& step, std::int64_t now) {
  Released released;
  for (auto& [ref, delivery] : tables.deliveries) {
    if (delivery.state != QueueState::open || !delivery.holder) continue;
    const Holder& holder = *delivery.holder;
    if (holder.kind != step.kind || (step.owner && holder.owner != *step.owner)) continue;
    if (released.deliveries == step.limit) return released;
    requeue(tables, delivery, now, now);
    ++released.deliveries;
  }
  released.done = true;
  return released;
}

}  // namespace hapax::store::memory
