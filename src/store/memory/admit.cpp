// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/admit.hpp"

#include "base/try.hpp"
#include "store/memory/lanes.hpp"

namespace hapax::store::memory {

namespace {

// The plan for one arrival. A request is planned as a whole before anything is changed.
struct Plan {
  Admission answer;
  bool store = false;
  std::string claim_key = {};  // to claim; empty: none
};

class Planner {
 public:
  Planner(const Tables& tables, const Admit& admit, std::int64_t now)
      : tables_(tables), admit_(admit), now_(now) {}

  Result<Plan> plan(const Arrival& arrival) {
    if (admit_.would != Would::none || arrival.key.empty()) return plan_unclaimed(arrival);
    std::string key = event_claim_key(arrival.source, arrival.tenant, arrival.key);
    if (const auto own = own_.find(key); own != own_.end()) {
      return Plan{against(arrival, own->second->no, own->second->digest)};
    }
    const auto claim = tables_.claims.find(key);
    if (claim != tables_.claims.end()) {
      const EventNo winner = claim->second.event;
      if (winner == arrival.no) return Plan{{Admission::Kind::fresh, winner}};
      if (stands(tables_, claim->second, now_)) return Plan{against(arrival, winner)};
    }
    HAPAX_TRY(check_free(arrival.no));
    own_.emplace(key, &arrival);
    return Plan{{Admission::Kind::fresh, arrival.no}, true, std::move(key)};
  }

 private:
  Result<Plan> plan_unclaimed(const Arrival& arrival) const {
    const Admission fresh{Admission::Kind::fresh, arrival.no};
    const auto found = tables_.events.find(arrival.no);
    if (found == tables_.events.end()) return Plan{fresh, true};
    const Event& event = found->second;
    const bool same = event.source == arrival.source && event.tenant == arrival.tenant &&
                      event.id == arrival.id && event.digest == arrival.digest &&
                      event.would == admit_.would;
    if (same) return Plan{fresh};
    return taken(arrival.no);
  }

  Admission against(const Arrival& arrival, EventNo winner) const {
    const auto event = tables_.events.find(winner);
    return against(arrival, winner,
                   event == tables_.events.end() ? arrival.digest : event->second.digest);
  }
  static Admission against(const Arrival& arrival, EventNo winner, const Digest& digest) {
    const bool same = digest == arrival.digest;
    return {same ? Admission::Kind::duplicate : Admission::Kind::changed, winner};
  }

  Result<void> check_free(EventNo number) const {
    if (!tables_.events.contains(number)) return {};
    return taken(number);
  }
  static Error taken(EventNo number) {
    return Error(Code::store_busy, "event number " + std::to_string(number.value()) +
                                       " belongs to another event; generate new numbers and retry");
  }

  const Tables& tables_;
  const Admit& admit_;
  const std::int64_t now_;
  std::map<std::string, const Arrival*> own_;  // claimed by this request
};

// Removes expired claims whose event is gone.
void forget_claims(Tables& tables, std::int64_t now) {
  std::erase_if(tables.claims, [&](const auto& each) {
    return is_expired(each.second.expires_ms, now) && !tables.events.contains(each.second.event);
  });
}

Result<void> check_room(Tables& tables, const Admit& admit, const std::vector<Plan>& plans,
                        const Room& room, std::int64_t now) {
  std::size_t claims = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].store) continue;
    bytes += size_of(admit.arrivals[i]);
    if (!plans[i].claim_key.empty() && !tables.claims.contains(plans[i].claim_key)) ++claims;
  }
  if (tables.claims.size() + claims > room.claims) forget_claims(tables, now);
  if (tables.claims.size() + claims <= room.claims && tables.bytes + bytes <= room.bytes) return {};
  return Error(Code::store_full, "the memory store has no room for this: it may hold " +
                                     std::to_string(room.claims) + " ids and " +
                                     std::to_string(room.bytes) + " bytes; use sqlite:");
}

}  // namespace

std::size_t size_of(const Arrival& arrival) {
  constexpr std::size_t kRow = 512;  // approximate overhead of a row
  return arrival.body.size() + arrival.headers.size() + arrival.id.size() + arrival.type.size() +
         arrival.tenant.size() + (1 + arrival.targets.size()) * (kRow + arrival.order_key.size());
}

bool stands(const Tables& tables, const EventClaim& claim, std::int64_t now) {
  return !is_expired(claim.expires_ms, now) || tables.holds(claim.event);
}

void store_event(Tables& tables, const Arrival& arrival, Would would, bool guard,
                 std::int64_t now) {
  Event& event = tables.events[arrival.no];
  event = {arrival.no,
           arrival.source,
           std::string(arrival.tenant),
           std::string(arrival.id),
           std::string(arrival.type),
           std::string(arrival.order_key),
           arrival.version,
           arrival.digest,
           std::string(arrival.headers),
           std::string(arrival.body),
           now,
           would,
           size_of(arrival),
           0,
           {},
           {}};
  tables.seen_ms[arrival.source] = now;
  tables.bytes += event.size;
  const bool lanes = would == Would::none && !arrival.order_key.empty();
  std::int64_t ordinal = 0;
  for (const Target& target : arrival.targets) {
    const DeliveryRef ref{arrival.no, DeliveryNo(++ordinal)};
    Delivery& delivery = tables.deliveries[ref];
    delivery.ref = ref;
    delivery.to = target.to;
    delivery.listen = target.listen;
    delivery.guard = guard ? Guard::full : Guard::observe;
    if (lanes && !target.listen) {
      delivery.lane = lane_key(arrival.source, arrival.tenant, arrival.order_key);
      delivery.version = arrival.version;
    }
    enter(tables, delivery, arrival.remember, now);
  }
}

AdmitAnswer admit(Tables& tables, const Admit& admit, const Room& room, std::int64_t now) {
  Planner planner(tables, admit, now);
  std::vector<Plan> plans;
  for (const Arrival& each : admit.arrivals) {
    HAPAX_TRY_ASSIGN(plan, planner.plan(each));
    plans.push_back(std::move(plan));
  }
  HAPAX_TRY(check_room(tables, admit, plans, room, now));
  std::vector<Admission> answers;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Arrival& arrival = admit.arrivals[i];
    answers.push_back(plans[i].answer);
    if (!plans[i].claim_key.empty()) {
      tables.claims[plans[i].claim_key] = {arrival.no, now + arrival.remember.count()};
    }
    if (plans[i].store) store_event(tables, arrival, admit.would, admit.guard, now);
  }
  return answers;
}

}  // namespace hapax::store::memory
