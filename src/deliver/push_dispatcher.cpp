// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "deliver/push_dispatcher.hpp"

#include "deliver/classify_response.hpp"
#include "env/chance.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace hapax::deliver {

namespace asio = boost::asio;

namespace {

constexpr BootTime kLeasePoll = std::chrono::seconds(1);  // finds events of other nodes
// Time reserved for the settle between the timeout of an attempt and the end of its lease.
constexpr BootTime kTimeToSettle = std::chrono::seconds(5);
// Destinations that respond this fast get their next deliveries leased ahead.
constexpr BootTime kFast = std::chrono::milliseconds(500);
constexpr std::size_t kMaxSettling = 8;  // per unit of concurrency
constexpr BootTime kFirstBackoff = std::chrono::milliseconds(50);
constexpr BootTime kLongestBackoff = std::chrono::seconds(5);

BootTime backoff(unsigned failures, Random& random) {
  constexpr unsigned kMostDoublings = 10;
  const BootTime pause =
      std::min(kFirstBackoff * (1U << std::min(failures, kMostDoublings)), kLongestBackoff);
  return pause / 2 + std::chrono::duration_cast<BootTime>(pause * chance(random) / 2);
}

TokenBucket bucket_of(const Destination& destination, BootTime now) {
  return {std::max(1.0, destination.rate.value_or(0)), now};
}

}  // namespace

// A lease held by this dispatcher.
struct PushDispatcher::ActiveLease {
  store::Leased leased;
  std::shared_ptr<const Destination> destination;  // as of the lease
  BootTime start_by;                               // later, the lease would be too short
  bool released = false;                           // while the attempt is in flight
  BootTime began = BootTime::max();                // of the attempt
};

PushDispatcher::PushDispatcher(const Deps& deps, std::shared_ptr<const Destination> destination)
    : deps_(deps),
      destination_(std::move(destination)),
      timer_(deps_.timers.make()),
      subscription_(deps_.notifier, destination_->no,
                    [this] {
                      // Called on the notifying thread.
                      asio::post(deps_.executor, [weak = weak_from_this()] {
                        if (const auto self = weak.lock()) self->request_soon();
                      });
                    }),
      breaker_(destination_->breaker),
      rate_(bucket_of(*destination_, deps_.clock.since_boot())),
      limit_(deps_.clock) {}

PushDispatcher::~PushDispatcher() = default;

Task<void> PushDispatcher::run() {
  const auto self = shared_from_this();
  while (!stopping_) {
    const BootTime now = deps_.clock.since_boot();
    start_ready();
    const std::size_t count = now >= request_at_ ? wanted(now) : 0;
    if (count > 0) {
      co_await request_leases(count);
    } else {
      const BootTime next = next_wakeup(now);
      co_await timer_->wait_until(next);
    }
  }
  co_await drain();
}

void PushDispatcher::stop(BootTime until) {
  stopping_ = true;
  stop_by_ = std::min(stop_by_, until);
  timer_->wake();
}

void PushDispatcher::change(std::shared_ptr<const Destination> destination) {
  const BootTime now = deps_.clock.since_boot();
  if (destination->breaker != destination_->breaker) breaker_ = Breaker(destination->breaker);
  if (destination->rate != destination_->rate) rate_ = bucket_of(*destination, now);
  destination_ = std::move(destination);
  request_soon();
}

// How many deliveries to lease now; also 0 while enough are leased.
std::size_t PushDispatcher::wanted(BootTime now) {
  const Destination& to = *destination_;
  if (to.rate) rate_.refill(now, *to.rate, std::max(1.0, *to.rate));
  if (ready_.size() * 2 > to.concurrency || settling_ > kMaxSettling * to.concurrency) return 0;
  const std::size_t busy = in_flight_.size() + ready_.size();
  const bool hangs = !in_flight_.empty() && now - in_flight_.front()->began >= kFast;
  const std::size_t ahead = last_took_ < kFast && !hangs ? to.concurrency : 0;
  const std::size_t most = to.concurrency + ahead;
  std::size_t count = std::min(most - std::min(most, busy), store::kMaxLeaseCount);
  count = std::min(count, breaker_.room(busy, now));
  if (to.rate) {
    const double free = rate_.left - static_cast<double>(ready_.size());
    count = std::min(count, static_cast<std::size_t>(std::max(0.0, free)));
  }
  return count;
}

// When to act next if no notification arrives.
BootTime PushDispatcher::next_wakeup(BootTime now) {
  const BootTime unused = ready_.empty() ? BootTime::max() : ready_.front()->start_by;
  const bool open = breaker_.state() == Breaker::State::open;
  if (open && now < breaker_.opens_at()) return std::min(unused, breaker_.opens_at());
  if (wanted(now) > 0) return std::min(unused, request_at_);
  if (!destination_->rate || rate_.left >= 1) return unused;  // an in-flight attempt must end first
  const double seconds = (1 - rate_.left) / *destination_->rate;
  const auto wait = std::chrono::duration<double, std::micro>(std::ceil(seconds * 1e6));
  return std::min(unused, std::max(request_at_, now + std::chrono::duration_cast<BootTime>(wait)));
}

void PushDispatcher::request_soon() {
  request_again_ = true;
  request_at_ = BootTime{};
  timer_->wake();
}

Task<void> PushDispatcher::request_leases(std::size_t count) {
  const auto from = destination_;  // may be replaced during the request
  const Destination& to = *from;
  const store::LeaseRequest request{.from = to.no,
                                    .max = count,
                                    .lease = to.lease,
                                    .holder = {Holder::Kind::push, deps_.owner()},
                                    .horizon = to.horizon,
                                    .on_dead = to.on_dead};
  subscription_.arm();
  request_again_ = false;
  const BootTime requested = deps_.clock.since_boot();
  Result<store::Lease> lease = co_await deps_.async_store.lease(request);
  if (!lease) {
    log_warning("lease request failed", lease.error());
    request_at_ = deps_.clock.since_boot() + backoff(failed_requests_++, deps_.random);
    co_return;
  }
  failed_requests_ = 0;
  const bool more = lease->deliveries.size() == count || lease->passed > 0 || request_again_;
  const BootTime now = deps_.clock.since_boot();
  if (now >= next_due_) next_due_ = BootTime::max();
  request_at_ = more ? BootTime{} : std::min(now + kLeasePoll, next_due_);
  accept_leases(*std::move(lease), from, requested);
}

void PushDispatcher::accept_leases(store::Lease lease,
                                   const std::shared_ptr<const Destination>& from,
                                   BootTime requested) {
  // Attempts start soon even if the lease is long: the horizon was checked when the delivery was
  // leased.
  const BootTime spare = from->lease - from->timeout - kTimeToSettle;
  const BootTime start_by = requested + std::min(spare, kTimeToSettle);
  for (store::Leased& each : lease.deliveries) {
    auto active = std::make_shared<ActiveLease>(ActiveLease{std::move(each), from, start_by});
    ready_.push_back(std::move(active));
  }
  if (stopping_) return;  // drain() releases them
  start_ready();
}

void PushDispatcher::start_ready() {
  const BootTime now = deps_.clock.since_boot();
  if (breaker_.state() == Breaker::State::open) release_ready();
  if (!ready_.empty() && ready_.front()->start_by <= now) {
    release_ready();
    request_at_ = now + backoff(failed_requests_++, deps_.random);  // the store is slow
  }
  while (!ready_.empty() && in_flight_.size() < destination_->concurrency) {
    ActiveLeasePtr active = std::move(ready_.front());
    ready_.pop_front();
    if (destination_->rate) rate_.left -= 1;
    in_flight_.push_back(active);
    asio::co_spawn(deps_.executor, attempt(std::move(active)), asio::detached);
  }
  publish_status();
}

void PushDispatcher::release_ready() {
  if (ready_.empty()) return;
  std::vector<ActiveLeasePtr> active(ready_.begin(), ready_.end());
  ready_.clear();
  asio::co_spawn(deps_.executor, release(std::move(active), false), asio::detached);
}

Task<void> PushDispatcher::attempt(ActiveLeasePtr active) {
  const auto self = shared_from_this();
  const BootTime began = deps_.clock.since_boot();
  active->began = began;
  AttemptNote note;
  note.when = deps_.clock.wall();
  AttemptResponse answer;
  try {
    answer = co_await deps_.transport.send(*active->destination, active->leased);
  } catch (const std::exception&) {
    answer.error = "internal";  // out of memory; it must still leave in_flight_
  }
  std::erase(in_flight_, active);
  if (active->released) co_return publish_status();
  if (!answer.tried) {
    std::vector<ActiveLeasePtr> untried{active};
    co_await release(std::move(untried), false);
    request_at_ = deps_.clock.since_boot() + backoff(failed_requests_++, deps_.random);
    co_return publish_status();
  }
  const BootTime now = deps_.clock.since_boot();
  last_took_ = now - began;
  const AttemptResult result = classify_response(*active->destination, active->leased.attempt,
                                                 answer, deps_.clock.wall(), deps_.random);
  breaker_.ended(result.healthy, began, now);
  note.took = std::chrono::duration_cast<std::chrono::milliseconds>(last_took_);
  note.status = answer.status;
  note.error = result.error;
  note.excerpt = answer.excerpt;
  ++settling_;
  if (!stopping_) start_ready();
  request_soon();  // leases after the queued settle, which makes the next of the lane due
  co_await settle(*active, result.disposition, note);
  --settling_;
  if (const auto* retry = std::get_if<RetryIn>(&result.disposition)) {
    // The store counts the delay from the settle, in whole milliseconds.
    const BootTime due = deps_.clock.since_boot() + retry->delay + std::chrono::milliseconds(1);
    next_due_ = std::min(next_due_, due);
    request_at_ = std::min(request_at_, next_due_);
  }
  publish_status();
  // With several settles in flight, a later lease request may have been answered first.
  request_at_ > deps_.clock.since_boot() ? request_soon() : timer_->wake();
}

// Retries until the store accepts it; a settlement can be repeated. If the server stops before
// that, the lease expires.
Task<void> PushDispatcher::settle(const ActiveLease& active, const Disposition& disposition,
                                  const AttemptNote& note) {
  const store::Settlement settlement{
      {active.leased.event.no, active.leased.delivery}, active.leased.fence, disposition, note};
  const std::span<const store::Settlement> settlements(&settlement, 1);
  const std::unique_ptr<WakeableTimer> pause = deps_.timers.make();
  for (unsigned failures = 0;; ++failures) {
    const Result<std::vector<store::Settled>> settled =
        co_await deps_.async_store.settle(settlements);
    if (settled) {
      const bool ok = settled->front() == store::Settled::ok;
      deps_.watcher({*active.destination,
                     ok ? name(*store::outcome_of(disposition)) : std::string_view("stale"),
                     note.took});
      co_return;
    }
    log_warning("settle failed", settled.error());
    const BootTime now = deps_.clock.since_boot();
    if (now >= stop_by_) co_return;
    const BootTime again = now + backoff(failures, deps_.random);
    co_await pause->wait_until(std::min(again, stop_by_));
  }
}

// Tried once: a lease that cannot be released expires.
Task<void> PushDispatcher::release(std::vector<ActiveLeasePtr> active, bool sent) {
  const auto self = shared_from_this();
  std::vector<store::Settlement> settlements;
  for (const ActiveLeasePtr& each : active) {
    AttemptNote note;
    note.when = deps_.clock.wall();
    note.error = sent ? "stopped" : "not begun";
    settlements.push_back(
        {{each->leased.event.no, each->leased.delivery}, each->leased.fence, Release{sent}, note});
  }
  ++settling_;
  const Result<std::vector<store::Settled>> settled =
      co_await deps_.async_store.settle(settlements);
  --settling_;
  if (!settled) log_warning("leases not released", settled.error());
  timer_->wake();
}

Task<void> PushDispatcher::drain() {
  release_ready();
  for (BootTime now = deps_.clock.since_boot(); now < stop_by_; now = deps_.clock.since_boot()) {
    if (in_flight_.empty() && settling_ == 0) break;
    co_await timer_->wait_until(stop_by_);
  }
  std::vector<ActiveLeasePtr> late = in_flight_;
  for (const ActiveLeasePtr& each : late) each->released = true;
  if (!late.empty()) co_await release(std::move(late), true);
}

void PushDispatcher::publish_status() {
  published_breaker_.store(breaker_.state(), std::memory_order_relaxed);
  published_in_flight_.store(in_flight_.size(), std::memory_order_relaxed);
}

void PushDispatcher::log_warning(std::string_view what, const Error& error) {
  const std::optional<std::string> more = limit_.pass(std::string(what));
  if (!more) return;
  deps_.log.line(
      Level::warning, what,
      {{"destination", destination_->name}, {"error", error.to_string()}, {"more", *more}});
}

}  // namespace hapax::deliver
