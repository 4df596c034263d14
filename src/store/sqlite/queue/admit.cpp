// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/admit.hpp"

#include "base/try.hpp"
#include "store/sqlite/inbox_statements.hpp"

namespace hapax::store::sqlite {

namespace {

constexpr std::string_view kAdmitting = "admit an event";

Error taken(EventNo number) {
  return Error(Code::store_busy, "event number " + std::to_string(number.value()) +
                                     " belongs to another event; generate new numbers and retry");
}

}  // namespace

Admitter::Admitter(sqlite3* db, ClaimIndex& claims, QueueTable& queue, Lanes& lanes)
    : claims_(claims),
      queue_(queue),
      lanes_(lanes),
      is_held_(db, kEventIsHeld),
      insert_(db, kInsertEvent),
      origin_(db, kReadOrigin),
      digest_(db, kReadDigest),
      seen_(db, kNoteSeen) {}

Result<std::vector<Admission>> Admitter::admit(const Admit& request, std::int64_t now_ms,
                                               std::optional<Error>& refused) {
  std::vector<Admission> answers;
  answers.reserve(request.arrivals.size());
  for (const Arrival& each : request.arrivals) {
    const bool claims = request.would == Would::none && !each.key.empty();
    HAPAX_TRY_ASSIGN(answer, claims ? admit_claimed(each, request.guard, now_ms, refused)
                                    : admit_unclaimed(each, request, now_ms, refused));
    if (refused) break;
    answers.push_back(answer);
  }
  return answers;
}

Result<Admission> Admitter::admit_claimed(const Arrival& arrival, bool guard, std::int64_t now_ms,
                                          std::optional<Error>& refused) {
  std::string key = event_claim_key(arrival.source, arrival.tenant, arrival.key);
  HAPAX_TRY_ASSIGN(known, claims_.find(key));
  if (known) {
    HAPAX_TRY_ASSIGN(answer, lost(*known, arrival, now_ms));
    if (answer) return *answer;
  }
  claims_.put(std::move(key), {arrival.no, now_ms + arrival.remember.count()});
  HAPAX_TRY_ASSIGN(stored, store(arrival, Would::none, guard, now_ms));
  if (!stored) refused = taken(arrival.no);
  return Admission{Admission::Kind::fresh, arrival.no};
}

// The answer if another event has the claim, or if this arrival made it before. nullopt: the claim
// has expired and is free.
Result<std::optional<Admission>> Admitter::lost(const EventClaim& claim, const Arrival& arrival,
                                                std::int64_t now_ms) {
  const EventNo winner = claim.event;
  if (winner == arrival.no) return std::optional(Admission{Admission::Kind::fresh, winner});
  if (is_expired(claim.expires_ms, now_ms)) {
    HAPAX_TRY_ASSIGN(held, is_held(winner));
    if (!held) return std::optional<Admission>();
  }
  HAPAX_TRY_ASSIGN(answer, against(arrival, winner));
  return std::optional(answer);
}

Result<Admission> Admitter::against(const Arrival& arrival, EventNo winner) {
  Run row(digest_);
  HAPAX_TRY_ASSIGN(found, row.bind(winner.value()).step(kAdmitting));
  const bool changed = found && row.bytes(0) != hapax::view(arrival.digest);
  return Admission{changed ? Admission::Kind::changed : Admission::Kind::duplicate, winner};
}

Result<Admission> Admitter::admit_unclaimed(const Arrival& arrival, const Admit& request,
                                            std::int64_t now_ms, std::optional<Error>& refused) {
  HAPAX_TRY_ASSIGN(stored, store(arrival, request.would, request.guard, now_ms));
  if (!stored) {
    HAPAX_TRY_ASSIGN(same, is_same(arrival, request.would));
    if (!same) refused = taken(arrival.no);
  }
  return Admission{Admission::Kind::fresh, arrival.no};
}

Result<bool> Admitter::is_same(const Arrival& arrival, Would would) {
  Run row(origin_);
  HAPAX_TRY_ASSIGN(found, row.bind(arrival.no.value()).step(kAdmitting));
  return found && row.number(0) == arrival.source.value() &&
         row.number(1) == static_cast<std::int64_t>(would) && row.bytes(2) == arrival.tenant &&
         row.bytes(3) == arrival.id && row.bytes(4) == hapax::view(arrival.digest);
}

Result<bool> Admitter::is_held(EventNo event) {
  HAPAX_TRY(write_deliveries());
  return Run(is_held_).bind(event.value()).step(kAdmitting);
}

Result<bool> Admitter::store(const Arrival& arrival, Would would, bool guard, std::int64_t now_ms) {
  {
    Run row(insert_);
    row.bind(arrival.no.value()).bind(arrival.source.value()).bind(now_ms);
    row.bind(static_cast<std::int64_t>(would)).bind_maybe(arrival.version);
    row.bind(arrival.tenant).bind(arrival.id).bind(arrival.type).bind(arrival.order_key);
    row.bind(hapax::view(arrival.digest)).bind(arrival.headers).bind(arrival.body);
    HAPAX_TRY_ASSIGN(changed, row.change(kAdmitting));
    if (changed == 0) return false;
  }
  HAPAX_TRY(deliver(arrival, would, guard, now_ms));
  HAPAX_TRY(note_seen(arrival.source, now_ms));
  return true;
}

Result<void> Admitter::deliver(const Arrival& arrival, Would would, bool guard,
                               std::int64_t now_ms) {
  const bool lanes = would == Would::none && !arrival.order_key.empty();
  std::int64_t ordinal = 0;
  for (const Target& target : arrival.targets) {
    Delivery delivery;
    delivery.ref = {arrival.no, DeliveryNo(++ordinal)};
    delivery.to = target.to;
    delivery.listen = target.listen;
    delivery.guard = guard ? Guard::full : Guard::observe;
    if (lanes && !target.listen) {
      delivery.lane = lane_key(arrival.source, arrival.tenant, arrival.order_key);
      delivery.version = arrival.version;
    }
    if (delivery.lane.empty()) {
      delivery.due_ms = now_ms;
      open_.push_back(std::move(delivery));
      if (open_.size() == kRowsOfStatement) HAPAX_TRY(write_deliveries());
    } else {
      HAPAX_TRY(lanes_.enter(delivery, arrival.remember, now_ms));
    }
  }
  return {};
}

Result<void> Admitter::write_deliveries() {
  HAPAX_TRY(queue_.insert_open(open_));
  open_.clear();
  return {};
}

// One write per source and kSeenSlack: a write per event would cost every event a page.
Result<void> Admitter::note_seen(SourceNo source, std::int64_t now_ms) {
  const auto [place, is_new] = seen_ms_.try_emplace(source, now_ms);
  if (!is_new && now_ms - place->second < kSeenSlack.count()) return {};
  place->second = now_ms;
  HAPAX_TRY(Run(seen_).bind(source.value()).bind(now_ms).change("note when a source was seen"));
  return {};
}

}  // namespace hapax::store::sqlite
