// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/async_store.hpp"
#include "async/delivery_notifier.hpp"
#include "async/wakeable_timer.hpp"
#include "deliver/breaker.hpp"
#include "deliver/transport.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "env/token_bucket.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace hapax::deliver {

// A finished attempt, for metrics.
struct Attempted {
  const Destination& destination;
  std::string_view outcome;  // "completed", "retried", "dead", "stale"
  std::chrono::microseconds took{};
};

// Drives one http destination: leases due deliveries, sends them through the transport and settles
// them, within the concurrency, the rate and the circuit breaker of the destination. A lease that
// cannot be used in time is released; no attempt is counted.
//
// Runs on the event loop of `executor`. After stop(), run() returns once every lease is settled or
// released. Leases that the store does not settle by the deadline expire; their deliveries are
// attempted again with the same key.
class PushDispatcher : public std::enable_shared_from_this<PushDispatcher> {
 public:
  // All must outlive it.
  struct Deps {
    Executor executor;
    AsyncStore& async_store;
    Transport& transport;
    TimerFactory& timers;
    DeliveryNotifier& notifier;
    Clock& clock;
    Random& random;
    Log& log;
    std::function<std::int64_t()> owner;  // the node number, recorded in its leases
    std::function<void(const Attempted&)> watcher;
  };

  PushDispatcher(const Deps& deps, std::shared_ptr<const Destination> destination);
  ~PushDispatcher();

  Task<void> run();
  // Stops leasing. In-flight attempts may end by `until`; run() returns soon after.
  void stop(BootTime until);
  // Limits apply at once, everything else to deliveries leased from now on. `no` must be the
  // same.
  void change(std::shared_ptr<const Destination> destination);

  // Thread-safe.
  Breaker::State breaker() const { return published_breaker_.load(); }
  std::size_t under_way() const { return published_in_flight_.load(); }

 private:
  struct ActiveLease;
  using ActiveLeasePtr = std::shared_ptr<ActiveLease>;

  std::size_t wanted(BootTime now);
  BootTime next_wakeup(BootTime now);
  Task<void> request_leases(std::size_t count);
  void accept_leases(store::Lease lease, const std::shared_ptr<const Destination>& from,
                     BootTime requested);
  void request_soon();
  void start_ready();
  void release_ready();
  Task<void> attempt(ActiveLeasePtr active);
  Task<void> settle(const ActiveLease& active, const Disposition& disposition,
                    const AttemptNote& note);
  Task<void> release(std::vector<ActiveLeasePtr> active, bool sent);
  Task<void> drain();
  void publish_status();
  void log_warning(std::string_view what, const Error& error);

  Deps deps_;
  std::shared_ptr<const Destination> destination_;
  std::shared_ptr<WakeableTimer> timer_;
  DeliveryNotifier::Subscription subscription_;
  Breaker breaker_;
  TokenBucket rate_;
  std::deque<ActiveLeasePtr> ready_;       // leased, not yet started
  std::vector<ActiveLeasePtr> in_flight_;  // being sent
  std::size_t settling_ = 0;
  BootTime last_took_ = BootTime::max();  // duration of the last attempt
  BootTime request_at_{};
  BootTime next_due_ = BootTime::max();  // the earliest retry settled here
  bool request_again_ = false;           // more may be due since the last request
  unsigned failed_requests_ = 0;
  bool stopping_ = false;
  BootTime stop_by_ = BootTime::max();
  LogLimit limit_;  // by message
  std::atomic<Breaker::State> published_breaker_ = Breaker::State::closed;
  std::atomic<std::size_t> published_in_flight_ = 0;
};

}  // namespace hapax::deliver
