// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/pull.hpp"

#include "base/try.hpp"
#include "deliver/classify_response.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <list>
#include <set>
#include <utility>

namespace hapax::deliver {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr BootTime kPoll = std::chrono::seconds(1);  // finds retries and events of other nodes
constexpr BootTime kSettleFor = std::chrono::seconds(10);
constexpr BootTime kFirstPause = std::chrono::milliseconds(50);
constexpr BootTime kLongestPause = std::chrono::seconds(1);
// For destinations that are no longer configured.
constexpr milliseconds kRetryOfUnknown = std::chrono::seconds(30);
constexpr milliseconds kLeaseOfUnknown = std::chrono::seconds(30);

constexpr BootTime kRoomFor = std::chrono::seconds(1);
constexpr BootTime kAllRoomFor = std::chrono::milliseconds(100);

// Memory reserved for each delivery of a response until its size is known: the usual maximum, 1 MiB
// in base64.
constexpr std::size_t kPerDelivery = std::size_t{1408} * 1024;
constexpr std::size_t kMostRoom = store::kMaxLeaseBytes / 1024 * 1408;

std::size_t room_of(const store::Lease& lease) {
  constexpr std::size_t kRest = 1024;
  std::size_t bytes = 0;
  for (const store::Leased& each : lease.deliveries) {
    bytes += each.event.body.size() / 3 * 4 + 2 * each.event.headers.size() + kRest;
  }
  return bytes;
}

// Does not split a UTF-8 character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (most > 0 && goes_on(text[most])) --most;
  return text.substr(0, most);
}

Error no_room() {
  return Error(Code::queue_full,
               "unread lease responses of this destination use all memory; read them and retry");
}

bool is_worth_repeating(const Error& error) {
  return error.code() != Code::stopping && error.code() != Code::invalid_argument;
}

}  // namespace

// ---------------------------------------------------------------------------------------------

void LeaseCache::note(Fence fence, const LeaseRecord& record) {
  const std::lock_guard lock(mutex_);
  records_.insert_or_assign(fence, record);
  if (records_.size() > most_) records_.erase(records_.begin());
}

std::optional<LeaseRecord> LeaseCache::find(const DeliveryRef& which, Fence fence) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(fence);
  if (found == records_.end() || found->second.which != which) return std::nullopt;
  return found->second;
}

std::vector<LeaseId> ids_of(const store::Lease& lease) {
  std::vector<LeaseId> ids;
  ids.reserve(lease.deliveries.size());
  for (const store::Leased& each : lease.deliveries) {
    ids.push_back({{each.event.no, each.delivery}, each.fence});
  }
  return ids;
}

Result<std::optional<LeaseRecord>> lease_record_in(store::Catalog& catalog, const LeaseId& id) {
  HAPAX_TRY_ASSIGN(found, catalog.event(id.which.event));
  if (!found.value) return std::optional<LeaseRecord>();
  const store::EventDetail& event = *found.value;
  for (const store::DeliveryRow& each : event.deliveries) {
    if (each.no != id.which.delivery) continue;
    LeaseRecord record{.which = id.which, .to = each.to, .attempt = each.attempts + 1};
    for (const Attempt& past : event.attempts) {
      const bool same = past.delivery == each.no && past.fence == id.fence;
      if (same) record.ended = past.outcome;
    }
    return std::optional(record);
  }
  return std::optional<LeaseRecord>();
}

// ---------------------------------------------------------------------------------------------

// Lease requests that wait for deliveries of one destination, in order of arrival.
struct Pull::Queue {
  std::list<Waiter*> waiters;
  std::optional<DeliveryNotifier::Subscription> subscription;

  void wake_one();
};

// A lease request. Woken by a notification, by free memory, by its timer and by stop().
class Pull::Waiter {
 public:
  Waiter(Pull& pull, DestinationNo destination)
      : queue_(pull.queue_of(destination)), timer_(pull.deps_.timers.make()) {
    queue_->waiters.push_back(this);
  }
  ~Waiter() {
    std::erase(queue_->waiters, this);
    if (woken_) queue_->wake_one();  // pass the notification on
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void wake() {
    woken_ = true;
    timer_->wake();
  }
  void interrupt() { timer_->wake(); }
  bool is_querying() const { return querying_; }
  const std::shared_ptr<WakeableTimer>& timer() const { return timer_; }

  // Called before the query, so that no notification is lost.
  void begin_query() {
    queue_->subscription->arm();
    querying_ = true;
    woken_ = false;
  }
  void end_query(bool had_all) {
    querying_ = false;
    if (had_all) queue_->wake_one();  // more may be due
  }
  // True: this waiter is to query the store.
  Task<bool> wait_until(BootTime when) {
    co_await timer_->wait_until(when);
    co_return woken_ || queue_->waiters.front() == this;
  }

 private:
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<WakeableTimer> timer_;
  bool querying_ = true;  // starts with a query
  bool woken_ = false;
};

// Wakes a waiter without a query in progress, or else the first one, which then queries again.
void Pull::Queue::wake_one() {
  if (waiters.empty()) return;
  const auto free = std::find_if(waiters.begin(), waiters.end(),
                                 [](const Waiter* each) { return !each->is_querying(); });
  (free == waiters.end() ? waiters.front() : *free)->wake();
}

Pull::Pull(Deps deps) : deps_(std::move(deps)) {}

std::shared_ptr<Pull::Queue> Pull::queue_of(DestinationNo destination) {
  std::weak_ptr<Queue>& known = queues_[destination];
  if (auto queue = known.lock()) return queue;
  auto queue = std::make_shared<Queue>();
  // Called on the notifying thread.
  queue->subscription.emplace(deps_.notifier, destination,
                              [executor = deps_.executor, weak = std::weak_ptr<Queue>(queue)] {
                                asio::post(executor, [weak] {
                                  if (const auto alive = weak.lock()) alive->wake_one();
                                });
                              });
  known = queue;
  return queue;
}

void Pull::stop() {
  stopping_ = true;
  for (const auto& [destination, known] : queues_) {
    const auto queue = known.lock();
    if (!queue) continue;
    for (Waiter* each : queue->waiters) each->interrupt();
  }
}

// The permit has 0 bytes if no memory became free in time, the worker disconnected or the server is
// stopping.
Task<std::shared_ptr<LeaseRoom::Permit>> Pull::wait_for_room(const Waiter& waiter,
                                                             LeaseRoom::Permit::Request request,
                                                             BootTime until,
                                                             const std::function<bool()>& is_gone) {
  const auto pass_on = [executor = deps_.executor,
                        weak = std::weak_ptr<WakeableTimer>(waiter.timer())] {
    asio::post(executor, [weak] {
      if (const auto alive = weak.lock()) alive->wake();
    });
  };
  auto permit = std::make_shared<LeaseRoom::Permit>(deps_.room, request, pass_on);
  while (permit->bytes() == 0) {
    const BootTime now = deps_.clock.since_boot();
    if (stopping_ || now >= until || is_gone()) break;
    co_await waiter.timer()->wait_until(std::min(until, now + kPoll));
  }
  co_return permit;
}

// Waits briefly for the full amount: concurrent queries release most of their memory within
// moments. Unread responses do not, so after that memory for one delivery is enough.
Task<std::shared_ptr<LeaseRoom::Permit>> Pull::room_for(const Waiter& waiter, DestinationNo from,
                                                        std::size_t max, BootTime until,
                                                        const std::function<bool()>& is_gone) {
  LeaseRoom::Permit::Request request{from, std::min(max * kPerDelivery, kMostRoom), 0};
  request.least = request.most;
  const BootTime soon = std::min(until, deps_.clock.since_boot() + kAllRoomFor);
  std::shared_ptr<LeaseRoom::Permit> permit =
      co_await wait_for_room(waiter, request, soon, is_gone);
  if (permit->bytes() != 0) co_return permit;
  permit.reset();
  request.least = kPerDelivery;
  permit = co_await wait_for_room(waiter, request, until, is_gone);
  co_return permit;
}

Task<Result<GivenLease>> Pull::lease(const Destination& from, const Wanted& wanted,
                                     const std::function<bool()>& is_gone) {
  store::LeaseRequest request{.from = from.no,
                              .max = wanted.max,
                              .lease = wanted.lease.value_or(from.lease),
                              .holder = {Holder::Kind::pull, deps_.owner()},
                              .max_abandons = from.max_abandons,
                              .horizon = from.horizon,
                              .on_dead = from.on_dead};
  if (const Result<void> good = check(request); !good) co_return good.error();
  const BootTime begun = deps_.clock.since_boot();
  const BootTime until = begun + std::min<BootTime>(wanted.wait, kMaxPullWait);
  Waiter waiter(*this, from.no);
  for (bool may_query = true;;) {
    bool at_once = false;
    if (may_query) {
      const BootTime in_time = std::max(until, begun + kRoomFor);
      GivenLease given;
      given.room = co_await room_for(waiter, from.no, wanted.max, in_time, is_gone);
      if (given.room->bytes() == 0 && !stopping_ && !is_gone()) co_return no_room();
      if (given.room->bytes() == 0) break;
      const std::size_t fit = given.room->bytes() / kPerDelivery;
      request.max = given.room->bytes() < kMostRoom ? std::min(fit, wanted.max) : wanted.max;
      waiter.begin_query();
      const WallTime asked = deps_.clock.wall();
      Result<store::Lease> lease = co_await deps_.async_store.lease(request);
      waiter.end_query(lease && lease->deliveries.size() == request.max);
      if (!lease) co_return lease.error();
      if (!lease->deliveries.empty()) {
        note(*lease, from.no, asked);
        given.room->resize(room_of(*lease));
        given.lease = *std::move(lease);
        if (!is_gone()) co_return std::move(given);
        release(ids_of(given.lease), from.no);
        break;
      }
      at_once = lease->passed > 0;
    }
    const BootTime now = deps_.clock.since_boot();
    if (!at_once && (now >= until || stopping_)) break;
    if (!at_once) may_query = co_await waiter.wait_until(std::min(until, now + kPoll));
    if (stopping_ || is_gone()) break;
  }
  co_return GivenLease{};
}

void Pull::note(const store::Lease& lease, DestinationNo from, WallTime since) {
  for (const store::Leased& each : lease.deliveries) {
    const DeliveryRef which{each.event.no, each.delivery};
    deps_.lease_cache.note(each.fence, {which, from, each.attempt, since, {}});
  }
}

void Pull::release(const std::vector<LeaseId>& leases, DestinationNo from) {
  std::vector<store::Settlement> settlements;
  settlements.reserve(leases.size());
  for (const LeaseId& each : leases) {
    AttemptNote note;
    note.when = deps_.clock.wall();
    note.error = "client left";
    settlements.push_back({each.which, each.fence, Release{false}, note});
  }
  asio::co_spawn(deps_.executor, release_all(std::move(settlements), from), asio::detached);
}

// If the store does not accept the settlements, the leases expire.
Task<void> Pull::release_all(std::vector<store::Settlement> settlements, DestinationNo from) {
  const Result<std::vector<store::Settled>> ignored = co_await settle_with_retry(settlements);
  deps_.notifier.notify(from);
}

// ---------------------------------------------------------------------------------------------

// A record that is not `asked` for is returned only if it is cached.
Task<Result<Pull::LeaseRecords>> Pull::records_of(std::span<const LeaseId> ids,
                                                  const std::vector<bool>& asked) {
  LeaseRecords records(ids.size());
  std::vector<LeaseId> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    records[i] = deps_.lease_cache.find(ids[i].which, ids[i].fence);
    if (records[i] || !asked[i]) continue;
    missing.push_back(ids[i]);
    places.push_back(i);
  }
  if (missing.empty()) co_return records;
  Result<LeaseRecords> found = co_await deps_.look_up(missing);
  if (!found) co_return found;
  for (std::size_t i = 0; i < places.size(); ++i) records[places[i]] = (*found)[i];
  co_return records;
}

Disposition Pull::disposition_of(const WorkerResult& result,
                                 const std::optional<LeaseRecord>& record) {
  if (result.outcome == WorkerResult::Outcome::ack) return Ack{};
  if (result.outcome == WorkerResult::Outcome::drop) return Drop{};
  const auto to = record ? deps_.destination(record->to) : nullptr;
  if (!to) return RetryIn{result.retry_after.value_or(kRetryOfUnknown)};
  // A repeated result gets the disposition of the first one.
  const bool again = record->ended.has_value();
  const bool over =
      again ? record->ended == AttemptOutcome::dead : record->attempt > to->retry.size();
  if (over) return Dead{EndReason::exhausted, to->on_dead};
  if (result.retry_after)
    return RetryIn{std::min<milliseconds>(*result.retry_after, kMaxRetryAfter)};
  if (again || record->attempt == 0) return RetryIn{};
  return RetryIn{with_jitter(to->retry[record->attempt - 1], deps_.random)};
}

AttemptNote Pull::note_of(const WorkerResult& result,
                          const std::optional<LeaseRecord>& record) const {
  AttemptNote note;
  const WallTime now = deps_.clock.wall();
  note.when = record && record->since ? std::min(*record->since, now) : now;
  note.took = std::chrono::duration_cast<milliseconds>(now - note.when);
  note.error = cut(result.error, store::kMaxAttemptError);
  return note;
}

milliseconds Pull::lease_of(const std::optional<LeaseRecord>& record) const {
  const auto to = record ? deps_.destination(record->to) : nullptr;
  return to ? to->lease : kLeaseOfUnknown;
}

Task<Result<std::vector<store::Settled>>> Pull::settle(std::span<const WorkerResult> results,
                                                       const DestinationFilter& allowed) {
  std::vector<LeaseId> ids;
  std::vector<bool> asked;
  for (const WorkerResult& each : results) {
    ids.push_back(each.lease);
    asked.push_back(allowed || each.outcome == WorkerResult::Outcome::retry);
  }
  Result<LeaseRecords> records = co_await records_of(ids, asked);
  if (!records) co_return records.error();
  std::vector<std::optional<store::Settlement>> settlements;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::optional<LeaseRecord>& record = (*records)[i];
    auto& settlement = settlements.emplace_back();
    if (allowed && !(record && allowed(record->to))) continue;
    settlement.emplace(store::Settlement{ids[i].which, ids[i].fence,
                                         disposition_of(results[i], record),
                                         note_of(results[i], record)});
  }
  Result<std::vector<store::Settled>> settled = co_await settle_owned(settlements);
  notify_for(*records);
  co_return settled;
}

Task<Result<std::vector<store::Settled>>> Pull::renew(std::span<const LeaseId> leases,
                                                      const std::optional<milliseconds>& lease,
                                                      const DestinationFilter& allowed) {
  const std::vector<bool> asked(leases.size(), allowed || !lease);
  Result<LeaseRecords> records = co_await records_of(leases, asked);
  if (!records) co_return records.error();
  std::vector<std::optional<store::Settlement>> settlements;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    const std::optional<LeaseRecord>& record = (*records)[i];
    auto& settlement = settlements.emplace_back();
    if (allowed && !(record && allowed(record->to))) continue;
    settlement.emplace(store::Settlement{
        leases[i].which, leases[i].fence, Renew{lease.value_or(lease_of(record))}, {}});
  }
  co_return co_await settle_owned(settlements);
}

// nullopt: not the caller's delivery, answered with `unknown`.
Task<Result<std::vector<store::Settled>>> Pull::settle_owned(
    std::span<const std::optional<store::Settlement>> settlements) {
  std::vector<store::Settlement> owned;
  for (const auto& each : settlements) {
    if (each) owned.push_back(*each);
  }
  std::vector<store::Settled> answers(settlements.size(), store::Settled::unknown);
  if (owned.empty()) co_return answers;
  const Result<std::vector<store::Settled>> settled = co_await settle_with_retry(owned);
  if (!settled) co_return settled.error();
  std::size_t next = 0;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    if (settlements[i]) answers[i] = (*settled)[next++];
  }
  co_return answers;
}

Task<Result<std::vector<store::Settled>>> Pull::settle_with_retry(
    std::span<const store::Settlement> settlements) {
  for (const store::Settlement& each : settlements) {
    if (const Result<void> good = check(each); !good) co_return good.error();
  }
  const std::unique_ptr<WakeableTimer> pause = deps_.timers.make();
  const BootTime until = deps_.clock.since_boot() + kSettleFor;
  for (BootTime wait = kFirstPause;; wait = std::min(wait * 2, kLongestPause)) {
    Result<std::vector<store::Settled>> settled = co_await deps_.async_store.settle(settlements);
    const BootTime now = deps_.clock.since_boot();
    if (settled || !is_worth_repeating(settled.error()) || stopping_ || now >= until) {
      co_return settled;
    }
    co_await pause->wait_until(now + wait);
  }
}

// The next delivery of a lane is due when the one before it has ended.
void Pull::notify_for(const LeaseRecords& records) {
  std::set<DestinationNo> notified;
  for (const auto& each : records) {
    if (each && notified.insert(each->to).second) deps_.notifier.notify(each->to);
  }
}

}  // namespace hapax::deliver
