// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/memory/replay.hpp"

#include "store/memory/lanes.hpp"
#include "store/memory/read.hpp"

namespace hapax::store::memory {

namespace {

bool is_given_up(const Delivery& delivery) {
  return delivery.state == QueueState::dead || delivery.state == QueueState::cancelled ||
         delivery.state == QueueState::superseded;
}

bool was_done(const Delivery& delivery, ReplayNo number) {
  return number != ReplayNo() && delivery.replay == number;
}

// The deliveries selected by the request, by number.
std::vector<Delivery*> asked_for(Tables& tables, const Replay& what) {
  std::vector<Delivery*> found;
  const auto [first, last] = tables.deliveries_of(what.event);
  for (auto each = first; each != last; ++each) {
    if (what.delivery && each->first.delivery != *what.delivery) continue;
    if (what.how.destination && each->second.to != *what.how.destination) continue;
    found.push_back(&each->second);
  }
  return found;
}

Replayed answer(std::vector<DeliveryNo> deliveries, bool past_horizon) {
  using Status = Replayed::Status;
  if (!deliveries.empty()) return {Status::done, std::move(deliveries)};
  return {past_horizon ? Status::past_horizon : Status::not_replayable, {}};
}

void replay_same(Tables& tables, Delivery& delivery, const HowToReplay& how, std::int64_t now) {
  delivery.attempts = 0;
  delivery.abandons = 0;
  delivery.guard = Guard::none;
  delivery.replay = how.no;
  if (how.accept_duplicate) delivery.first_sent_ms.reset();
  reopen(tables, delivery, now);
}

Replayed replay_same(Tables& tables, const Replay& what, std::int64_t now) {
  std::vector<DeliveryNo> going;
  bool past_horizon = false;
  for (Delivery* each : asked_for(tables, what)) {
    const bool done = was_done(*each, what.how.no) && each->state != QueueState::completed;
    if (!done && !is_given_up(*each)) continue;
    if (!done && each->reason == EndReason::horizon && !what.how.accept_duplicate) {
      past_horizon = true;
      continue;
    }
    if (!done) replay_same(tables, *each, what.how, now);
    going.push_back(each->ref.delivery);
  }
  return answer(std::move(going), past_horizon);
}

DeliveryNo replay_as_new(Tables& tables, const Delivery& old, ReplayNo number, std::int64_t now) {
  const auto last = std::prev(tables.deliveries_of(old.ref.event).second);
  const DeliveryRef ref{old.ref.event, DeliveryNo(last->first.delivery.value() + 1)};
  Delivery& made = tables.deliveries[ref];
  made.ref = ref;
  made.to = old.to;
  made.listen = old.listen;
  made.guard = Guard::none;
  made.replay_of = old.ref.delivery;
  made.replay = number;
  enter(tables, made, {}, now);
  return ref.delivery;
}

// For each destination the last selected delivery, and the one that this replay already made.
struct Latest {
  Delivery* last = nullptr;
  Delivery* made = nullptr;
};
std::map<DestinationNo, Latest> latest_of(Tables& tables, const Replay& what) {
  std::map<DestinationNo, Latest> latest;
  for (Delivery* each : asked_for(tables, what)) latest[each->to].last = each;
  const auto [first, last] = tables.deliveries_of(what.event);
  for (auto each = first; each != last; ++each) {
    const auto found = latest.find(each->second.to);
    if (found == latest.end() || !each->second.replay_of) continue;
    if (was_done(each->second, what.how.no)) found->second.made = &each->second;
  }
  return latest;
}

Replayed replay_as_new(Tables& tables, const Replay& what, std::int64_t now) {
  std::vector<DeliveryNo> going;
  std::vector<Delivery*> wanted;
  for (const auto& [destination, latest] : latest_of(tables, what)) {
    const bool ended = is_given_up(*latest.last) || latest.last->state == QueueState::completed;
    if (latest.made != nullptr) {
      going.push_back(latest.made->ref.delivery);
    } else if (ended) {
      wanted.push_back(latest.last);
    }
  }
  const auto [first, last] = tables.deliveries_of(what.event);
  const std::int64_t used = first == last ? 0 : std::prev(last)->first.delivery.value();
  if (used + static_cast<std::int64_t>(wanted.size()) > kMaxDeliveryNo) {
    return {Replayed::Status::too_many, {}};
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const Delivery* a, const Delivery* b) { return a->ref < b->ref; });
  for (const Delivery* each : wanted) {
    going.push_back(replay_as_new(tables, *each, what.how.no, now));
  }
  std::sort(going.begin(), going.end());
  return answer(std::move(going), false);
}

}  // namespace

Cancelled cancel(Tables& tables, const DeliveryRef& which, std::int64_t now) {
  const auto found = tables.deliveries.find(which);
  if (found == tables.deliveries.end()) {
    return tables.presence_of(which.event) == Presence::gone ? Cancelled::gone : Cancelled::absent;
  }
  Delivery& delivery = found->second;
  if (delivery.state == QueueState::cancelled) return Cancelled::done;
  if (delivery.state == QueueState::completed || delivery.state == QueueState::superseded) {
    return Cancelled::not_possible;
  }
  Budget budget;
  end(tables, delivery, QueueState::cancelled, EndReason::cancelled, now, budget);
  return Cancelled::done;
}

Replayed replay(Tables& tables, const Replay& what, std::int64_t now) {
  using Status = Replayed::Status;
  const Presence presence = tables.presence_of(what.event);
  if (presence != Presence::here) {
    return {presence == Presence::gone ? Status::gone : Status::absent, {}};
  }
  if (what.delivery && !tables.deliveries.contains({what.event, *what.delivery})) {
    return {Status::absent, {}};
  }
  return what.how.as == ReplayAs::same ? replay_same(tables, what, now)
                                       : replay_as_new(tables, what, now);
}

Replaying replay_step(Tables& tables, const ReplayStep& step, std::int64_t now) {
  Replaying done{0, 0, step.after, false};
  auto each = tables.events.upper_bound(step.after);
  for (; each != tables.events.end() && each->first <= step.until; ++each) {
    if (!matches(tables, each->second, step.filter, now)) continue;
    if (done.events == step.limit) return done;
    ++done.events;
    done.after = each->first;
    if (step.dry) continue;
    done.deliveries += replay(tables, {each->first, std::nullopt, step.how}, now).deliveries.size();
  }
  done.done = true;
  return done;
}

}  // namespace hapax::store::memory
