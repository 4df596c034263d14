// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "store/sqlite/queue/replay.hpp"

#include "base/try.hpp"

#include <algorithm>
#include <map>

namespace hapax::store::sqlite {

namespace {

using Status = Replayed::Status;

bool was_done(const Delivery& delivery, ReplayNo number) {
  return number != ReplayNo() && delivery.replay == number;
}

bool is_given_up(const Delivery& delivery) {
  return delivery.ended() && delivery.state != QueueState::completed;
}

bool is_asked_for(const Delivery& delivery, const Replay& what) {
  return (!what.delivery || delivery.ref.delivery == *what.delivery) &&
         (!what.how.destination || delivery.to == *what.how.destination);
}

Replayed answer(std::vector<DeliveryNo> deliveries, bool past_horizon) {
  if (!deliveries.empty()) return {Status::done, std::move(deliveries)};
  return {past_horizon ? Status::past_horizon : Status::not_replayable, {}};
}

// For one destination the last selected delivery, and the one that this replay already made.
struct Latest {
  const Delivery* last = nullptr;
  const Delivery* made = nullptr;
};

std::map<DestinationNo, Latest> latest_of(const std::vector<Delivery>& all, const Replay& what) {
  std::map<DestinationNo, Latest> latest;
  for (const Delivery& each : all) {
    if (is_asked_for(each, what)) latest[each.to].last = &each;
  }
  for (const Delivery& each : all) {
    const auto found = latest.find(each.to);
    if (found == latest.end() || !each.replay_of) continue;
    if (was_done(each, what.how.no)) found->second.made = &each;
  }
  return latest;
}

Delivery copy_of(const Delivery& old, DeliveryNo number, ReplayNo replay) {
  Delivery made;
  made.ref = {old.ref.event, number};
  made.to = old.to;
  made.listen = old.listen;
  made.guard = Guard::none;
  made.replay_of = old.ref.delivery;
  made.replay = replay;
  return made;
}

}  // namespace

Replayer::Replayer(sqlite3* db, QueueTable& queue, Lanes& lanes)
    : queue_(queue), lanes_(lanes), listing_(db) {}

Result<Cancelled> Replayer::cancel(const DeliveryRef& which, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(delivery, queue_.read(which));
  if (!delivery) {
    HAPAX_TRY_ASSIGN(presence, listing_.presence_of(which.event));
    if (presence == Presence::gone) return Cancelled::gone;
    HAPAX_TRY_ASSIGN(all, queue_.all_of(which.event));
    const bool there = presence == Presence::here &&
                       std::any_of(all.begin(), all.end(),
                                   [&](const Delivery& each) { return each.ref == which; });
    return there ? Cancelled::not_possible : Cancelled::absent;
  }
  if (delivery->state == QueueState::cancelled) return Cancelled::done;
  if (delivery->state == QueueState::superseded) return Cancelled::not_possible;
  Budget budget;
  HAPAX_TRY(lanes_.end(*delivery, QueueState::cancelled, EndReason::cancelled, now_ms, budget));
  return Cancelled::done;
}

Result<Replayed> Replayer::replay(const Replay& what, std::int64_t now_ms) {
  HAPAX_TRY_ASSIGN(presence, listing_.presence_of(what.event));
  if (presence != Presence::here) {
    return Replayed{presence == Presence::gone ? Status::gone : Status::absent, {}};
  }
  HAPAX_TRY_ASSIGN(all, queue_.all_of(what.event));
  const bool there = !what.delivery || std::any_of(all.begin(), all.end(), [&](const Delivery& d) {
    return d.ref.delivery == *what.delivery;
  });
  if (!there) return Replayed{Status::absent, {}};
  if (what.how.as == ReplayAs::as_new) return replay_as_new(all, what, now_ms);
  std::erase_if(all, [&](const Delivery& each) { return !is_asked_for(each, what); });
  return replay_same(all, what.how, now_ms);
}

Result<Replayed> Replayer::replay_same(std::vector<Delivery>& asked, const HowToReplay& how,
                                       std::int64_t now_ms) {
  std::vector<DeliveryNo> going;
  bool past_horizon = false;
  for (Delivery& each : asked) {
    const bool done = was_done(each, how.no) && each.state != QueueState::completed;
    if (!done && !is_given_up(each)) continue;
    if (!done && each.reason == EndReason::horizon && !how.accept_duplicate) {
      past_horizon = true;
      continue;
    }
    going.push_back(each.ref.delivery);
    if (done) continue;
    each.attempts = 0;
    each.abandons = 0;
    each.guard = Guard::none;
    each.replay = how.no;
    if (how.accept_duplicate) each.first_sent_ms.reset();
    HAPAX_TRY(lanes_.reopen(each, now_ms));
  }
  return answer(std::move(going), past_horizon);
}

Result<Replayed> Replayer::replay_as_new(const std::vector<Delivery>& all, const Replay& what,
                                         std::int64_t now_ms) {
  std::vector<DeliveryNo> going;
  std::vector<const Delivery*> wanted;
  for (const auto& [destination, latest] : latest_of(all, what)) {
    if (latest.made != nullptr) {
      going.push_back(latest.made->ref.delivery);
    } else if (latest.last->ended()) {
      wanted.push_back(latest.last);
    }
  }
  std::int64_t used = all.empty() ? 0 : all.back().ref.delivery.value();
  if (used + static_cast<std::int64_t>(wanted.size()) > kMaxDeliveryNo) {
    return Replayed{Status::too_many, {}};
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const Delivery* a, const Delivery* b) { return a->ref < b->ref; });
  for (const Delivery* each : wanted) {
    Delivery made = copy_of(*each, DeliveryNo(++used), what.how.no);
    HAPAX_TRY(lanes_.enter(made, {}, now_ms));
    going.push_back(made.ref.delivery);
  }
  std::sort(going.begin(), going.end());
  return answer(std::move(going), false);
}

Result<std::size_t> Replayer::replay_all(std::span<const EventNo> events, const ReplayStep& step,
                                         std::int64_t now_ms) {
  std::size_t deliveries = 0;
  for (const EventNo each : events) {
    HAPAX_TRY_ASSIGN(row, listing_.row(each, now_ms));
    if (!row || !matches(*row, step.filter)) continue;
    HAPAX_TRY_ASSIGN(replayed, replay({each, std::nullopt, step.how}, now_ms));
    deliveries += replayed.deliveries.size();
  }
  return deliveries;
}

}  // namespace hapax::store::sqlite
