// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/lease.hpp"

#include "base/try.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"

namespace hapax::store::sqlite {

Leaser::Leaser(sqlite3* db, QueueTable& queue, Lanes& lanes, Fences& fences)
    : queue_(queue),
      lanes_(lanes),
      fences_(fences),
      is_paused_(db, kIsPaused),
      event_(db, kReadForHandler) {}

// Due deliveries are read before any of them changes, so that a delivery that becomes due during
// the call is not examined.
Result<Lease> Leaser::lease(const LeaseRequest& request, std::int64_t now_ms) {
  Lease answer;
  HAPAX_TRY_ASSIGN(paused, Run(is_paused_).bind(request.from.value()).step("lease"));
  if (paused) return answer;
  HAPAX_TRY_ASSIGN(due, queue_.due(request.from, request.max, now_ms));
  answer.deliveries.reserve(due.size());
  std::size_t bytes = 0;
  Budget budget;
  for (Delivery& each : due) {
    if (bytes >= kMaxLeaseBytes) break;
    HAPAX_TRY_ASSIGN(leased, try_lease(each, request, now_ms, budget));
    if (!leased) continue;
    bytes += leased->event.headers.size() + leased->event.body.size();
    answer.deliveries.push_back(std::move(*leased));
  }
  answer.passed = due.size() - answer.deliveries.size();
  return answer;
}

// Leases the delivery, ends it, or leaves it unchanged: see Lease in store/batch.hpp.
Result<std::optional<Leased>> Leaser::try_lease(Delivery& delivery, const LeaseRequest& request,
                                                std::int64_t now_ms, Budget& budget) {
  const bool lapsed = delivery.holder && counts_abandons(delivery.holder->kind);
  const unsigned abandons = delivery.abandons + (lapsed ? 1 : 0);
  const bool abandoned = lapsed && request.max_abandons > 0 && abandons >= request.max_abandons;
  const bool late = request.horizon.count() > 0 && delivery.first_sent_ms &&
                    is_expired(*delivery.first_sent_ms + request.horizon.count(), now_ms);
  if (abandoned || late) {
    delivery.abandons = abandons;
    const EndReason reason = abandoned ? EndReason::abandoned : EndReason::horizon;
    HAPAX_TRY(lanes_.die(delivery, reason, request.on_dead, now_ms, budget));
    return std::optional<Leased>();
  }
  HAPAX_TRY_ASSIGN(outdated, lanes_.is_outdated(delivery, now_ms));
  if (outdated && budget.superseded == 0) return std::optional<Leased>();
  delivery.abandons = abandons;
  if (outdated) {
    --budget.superseded;
    HAPAX_TRY(lanes_.end(delivery, QueueState::superseded, EndReason::none, now_ms, budget));
    return std::optional<Leased>();
  }
  HAPAX_TRY_ASSIGN(leased, take(delivery, request, now_ms));
  return std::optional(std::move(leased));
}

Result<Leased> Leaser::take(Delivery& delivery, const LeaseRequest& request, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(fence, fences_.next());
  delivery.due_ms = now_ms + request.lease.count();
  delivery.fence = fence;
  delivery.holder = request.holder;
  delivery.first_lease = !delivery.first_sent_ms;
  if (delivery.first_lease) delivery.first_sent_ms = now_ms;
  HAPAX_TRY(queue_.lease(delivery));
  HAPAX_TRY_ASSIGN(stored, event(delivery.ref.event));
  return Leased{delivery.ref.delivery,    fence,
                delivery.attempts + 1,    delivery.abandons,
                wall_of(delivery.due_ms), delivery.replay_of,
                std::move(stored)};
}

Result<StoredEvent> Leaser::event(EventNo number) {
  Run row(event_);
  HAPAX_TRY_ASSIGN(found, row.bind(number.value()).step("read an event"));
  if (!found) {
    return Error(Code::store_corrupt,
                 "a delivery in hapax_queue has no event; the table is damaged");
  }
  return StoredEvent{number,
                     SourceNo(row.number(0)),
                     std::string(row.bytes(1)),
                     std::string(row.bytes(2)),
                     std::string(row.bytes(3)),
                     std::string(row.bytes(4)),
                     std::string(row.bytes(5)),
                     wall_of(row.number(6)),
                     static_cast<Would>(row.number(7))};
}

Result<Released> Leaser::release_holder(const ReleaseStep& step, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(held, queue_.held_by(step));
  Released released{.deliveries = 0, .done = held.size() <= step.limit};
  if (!released.done) held.pop_back();
  for (Delivery& each : held) {
    HAPAX_TRY(lanes_.requeue(each, now_ms, now_ms));
    ++released.deliveries;
  }
  return released;
}

}  // namespace hapax::store::sqlite
