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

// An attempt that ended, for metrics.
struct Attempted {
  const Destination& destination;
  std::string_view outcome;  // "completed", "retried", "dead", "stale"
  std::chrono::microseconds took{};
};

// Drives one http destination: leases due deliveries, sends them over the transport, settles. Never
// more under way than the destination's concurrency, never faster than its rate, nothing while its
// breaker is open. A lease that cannot be used in time is released and charged nothing.
//
// All of it happens on the one event loop of `executor`. Ends, when it was stopped, with everything
// settled or released; what the store would not take by then lapses, and is attempted again with
// the same key.
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
    std::function<std::int64_t()> owner;  // the node's number, which its leases bear
    std::function<void(const Attempted&)> watcher;
  };

  PushDispatcher(const Deps& deps, std::shared_ptr<const Destination> destination);
  ~PushDispatcher();

  Task<void> run();
  // Nothing more is leased. What is under way may end until then; run() is through soon after.
  void stop(BootTime until);
  // From the next attempt on. It is the same destination in the eyes of the store.
  void change(std::shared_ptr<const Destination> destination);

  // The rest may be asked by any thread.
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
  std::deque<ActiveLeasePtr> ready_;       // leased, not begun
  std::vector<ActiveLeasePtr> in_flight_;  // with the transport
  std::size_t settling_ = 0;
  BootTime last_took_ = BootTime::max();  // of the last attempt
  BootTime request_at_{};
  BootTime next_due_ = BootTime::max();  // the first of the retries that were settled here
  bool request_again_ = false;           // something may have become due since it was asked for
  unsigned failed_requests_ = 0;
  bool stopping_ = false;
  BootTime stop_by_ = BootTime::max();
  LogLimit limit_;  // by what is wrong
  std::atomic<Breaker::State> published_breaker_ = Breaker::State::closed;
  std::atomic<std::size_t> published_in_flight_ = 0;
};

}  // namespace hapax::deliver
