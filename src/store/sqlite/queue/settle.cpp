// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/settle.hpp"

#include "base/try.hpp"
#include "store/sqlite/file/times.hpp"
#include "store/sqlite/inbox_statements.hpp"

namespace hapax::store::sqlite {

namespace {

// The effect of each disposition on a delivery.
class Settling {
 public:
  Settling(Lanes& lanes, Delivery& delivery, std::int64_t now_ms)
      : lanes_(lanes), delivery_(delivery), now_ms_(now_ms) {}

  Result<void> operator()(const Ack&) { return lanes_.complete(delivery_, now_ms_); }
  Result<void> operator()(const RetryIn& retry) {
    ++delivery_.attempts;
    note_sent(retry.sent);
    return lanes_.requeue(delivery_, now_ms_ + retry.delay.count(), now_ms_);
  }
  Result<void> operator()(const Drop&) {
    return lanes_.end(delivery_, QueueState::cancelled, EndReason::dropped, now_ms_, budget_);
  }
  Result<void> operator()(const Dead& dead) {
    ++delivery_.attempts;
    return lanes_.die(delivery_, dead.reason, dead.on_dead, now_ms_, budget_);
  }
  Result<void> operator()(const Release& release) {
    note_sent(release.sent);
    return lanes_.requeue(delivery_, now_ms_, now_ms_);
  }
  Result<void> operator()(const Renew&) { return {}; }  // see Settler::renew()

 private:
  void note_sent(bool sent) {
    if (!sent && delivery_.first_lease) delivery_.first_sent_ms.reset();
  }

  Lanes& lanes_;
  Delivery& delivery_;
  const std::int64_t now_ms_;
  Budget budget_;
};

}  // namespace

Settler::Settler(sqlite3* db, QueueTable& queue, Lanes& lanes)
    : queue_(queue),
      lanes_(lanes),
      record_(db, kRecordAttempt),
      complete_(db, kCompleteOutsideLanes),
      read_attempt_(db, kReadAttempt),
      is_known_(db, kIsKnown) {}

Result<Settled> Settler::settle(const Settlement& settlement, std::int64_t now_ms) {
  const std::optional<AttemptOutcome> outcome = outcome_of(settlement.disposition);
  if (!outcome) return renew(settlement, now_ms);
  HAPAX_TRY_ASSIGN(held, record(settlement, *outcome, now_ms));
  if (!held) return settled_before(settlement);
  if (outcome == AttemptOutcome::completed) {
    HAPAX_TRY_ASSIGN(done, complete_outside_lanes(settlement.which));
    if (done) return Settled::ok;
  }
  HAPAX_TRY_ASSIGN(delivery, queue_.read(settlement.which));
  if (!delivery) return Error(Code::store_corrupt, "a delivery in hapax_queue has vanished");
  HAPAX_TRY(std::visit(Settling(lanes_, *delivery, now_ms), settlement.disposition));
  return Settled::ok;
}

Result<bool> Settler::record(const Settlement& settlement, AttemptOutcome outcome,
                             std::int64_t now_ms) {
  const AttemptNote& note = settlement.note;
  Run row(record_);
  row.bind(settlement.which.event.value()).bind(settlement.which.delivery.value());
  row.bind(settlement.fence.value()).bind(static_cast<std::int64_t>(outcome)).bind(now_ms);
  row.bind(to_us(note.when)).bind(std::int64_t{note.took.count()}).bind(std::int64_t{note.status});
  row.bind(note.error).bind(note.excerpt);
  HAPAX_TRY_ASSIGN(added, row.change("record an attempt"));
  return added == 1;
}

Result<bool> Settler::complete_outside_lanes(const DeliveryRef& which) {
  Run row(complete_);
  row.bind(which.event.value()).bind(which.delivery.value());
  HAPAX_TRY_ASSIGN(removed, row.change("complete a delivery"));
  return removed == 1;
}

Result<Settled> Settler::renew(const Settlement& settlement, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(delivery, queue_.read(settlement.which));
  if (!delivery || delivery->fence != settlement.fence) return settled_before(settlement);
  delivery->due_ms = now_ms + std::get<Renew>(settlement.disposition).lease.count();
  HAPAX_TRY(queue_.renew(*delivery));
  return Settled::ok;
}

// The fence is not that of a current lease: the attempt row decides.
Result<Settled> Settler::settled_before(const Settlement& settlement) {
  const std::int64_t event = settlement.which.event.value();
  const std::int64_t delivery = settlement.which.delivery.value();
  Run attempt(read_attempt_);
  attempt.bind(event).bind(delivery).bind(settlement.fence.value());
  HAPAX_TRY_ASSIGN(found, attempt.step("settle"));
  if (found) {
    const auto outcome = static_cast<AttemptOutcome>(attempt.number(0));
    return outcome == outcome_of(settlement.disposition) ? Settled::ok : Settled::stale;
  }
  Run known(is_known_);
  HAPAX_TRY(known.bind(event).bind(delivery).step("settle"));
  return known.number(0) != 0 ? Settled::stale : Settled::unknown;
}

}  // namespace hapax::store::sqlite
