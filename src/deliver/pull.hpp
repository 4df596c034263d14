// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/async_store.hpp"
#include "async/delivery_notifier.hpp"
#include "async/wakeable_timer.hpp"
#include "deliver/destination.hpp"
#include "deliver/lease_room.hpp"
#include "store/catalog.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Pull: workers lease deliveries, do the work and settle them. Independent of HTTP.
namespace hapax::deliver {

inline constexpr std::chrono::seconds kMaxPullWait{60};
inline constexpr std::chrono::seconds kMinPullLease{1};
inline constexpr std::chrono::hours kMaxPullLease{12};

// A lease as it was given to a worker. Immutable; the fence identifies it.
struct LeaseRecord {
  DeliveryRef which;
  DestinationNo to;
  unsigned attempt = 1;  // earlier failures plus one
  std::optional<WallTime> since = {};
  // How it ended, if the record comes from the store and the store has the attempt.
  std::optional<AttemptOutcome> ended = {};
};

// The most recent leases of this node. Most settles find their lease here; others (leased at
// another node, or long ago) are looked up in the store. Thread-safe.
class LeaseCache {
 public:
  explicit LeaseCache(std::size_t most = 32'768) : most_(most) {}

  void note(Fence fence, const LeaseRecord& record);
  std::optional<LeaseRecord> find(const DeliveryRef& which, Fence fence) const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<Fence, LeaseRecord> records_;  // the oldest has the lowest fence
};

struct LeaseId {
  DeliveryRef which;
  Fence fence;
};

std::vector<LeaseId> ids_of(const store::Lease& lease);

// The stored state of deliveries, in order; nullopt for an unknown delivery.
using LeaseLookup = std::function<Task<Result<std::vector<std::optional<LeaseRecord>>>>(
    std::span<const LeaseId> ids)>;
// LeaseLookup for one id. Blocks.
Result<std::optional<LeaseRecord>> lease_record_in(store::Catalog& catalog, const LeaseId& id);

// A worker's lease request.
struct Wanted {
  std::size_t max = 1;                                  // 1 to store::kMaxLeaseCount
  std::optional<std::chrono::milliseconds> lease = {};  // nullopt: the destination's
  std::chrono::milliseconds wait{0};                    // for the first; at most kMaxPullWait
};

// Leases for a worker, and the memory they use until the worker has received them all.
struct GivenLease {
  store::Lease lease;
  std::shared_ptr<LeaseRoom::Permit> room;  // null: no deliveries
};

// A worker's result for a lease.
struct WorkerResult {
  enum class Outcome : std::uint8_t { ack, retry, drop };
  LeaseId lease;
  Outcome outcome = Outcome::ack;
  // For retry: the worker's delay, up to kMaxRetryAfter. nullopt: the entry of the destination's
  // schedule for this attempt, with jitter as for push.
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::string error = {};  // recorded; truncated to store::kMaxAttemptError
};

// The destinations that a caller may access. Empty: all of them. Deliveries of other destinations
// are answered with `unknown`, as if they did not exist.
using DestinationFilter = std::function<bool(DestinationNo)>;

// The pull side of one event loop. Per destination, one waiter queries the store, on notification
// and periodically; it passes the role on when it received all it wanted or disconnected. Waiting
// is cheap for any number of workers.
//
// The retry budget is that of push: the n-th failure waits for the n-th entry of
// Destination::retry, and after the last entry the delivery is dead (exhausted), even if the
// worker asks for a retry. An expired lease is not a failure; it is counted separately
// (max_abandons).
class Pull {
 public:
  // All must outlive it.
  struct Deps {
    Executor executor;
    AsyncStore& async_store;
    TimerFactory& timers;
    DeliveryNotifier& notifier;
    Clock& clock;
    Random& random;
    LeaseCache& lease_cache;
    LeaseRoom& room;
    LeaseLookup look_up;
    // The destination in the current configuration; null: not configured.
    std::function<std::shared_ptr<const Destination>(DestinationNo)> destination;
    // The node number, recorded as the holder of the leases of its workers, which have no names.
    std::function<std::int64_t()> owner;
  };

  explicit Pull(Deps deps);
  Pull(const Pull&) = delete;
  Pull& operator=(const Pull&) = delete;

  // Due deliveries, or, if none is due, those that become due within `wait`; otherwise none.
  // `is_gone`: whether the worker disconnected. Then nothing is returned, and leases made meanwhile
  // are released. Fewer are returned when memory for responses is short; queue_full: none was free
  // for `wait`, or for a second if that is longer. Other errors: nothing was leased, or the outcome
  // is unknown and the leases expire.
  Task<Result<GivenLease>> lease(const Destination& from, const Wanted& wanted,
                                 const std::function<bool()>& is_gone);

  // One answer per result, in order. Errors of the store are retried for 10 s and then returned;
  // the worker may always repeat the request.
  Task<Result<std::vector<store::Settled>>> settle(std::span<const WorkerResult> results,
                                                   const DestinationFilter& allowed);
  // The leases end `lease` from now; nullopt: the lease time of the destination.
  Task<Result<std::vector<store::Settled>>> renew(
      std::span<const LeaseId> leases, const std::optional<std::chrono::milliseconds>& lease,
      const DestinationFilter& allowed);

  // Releases leases that the worker did not receive: the deliveries become pending again, and no
  // attempt is counted. Runs in the background.
  void release(const std::vector<LeaseId>& leases, DestinationNo from);

  // Answers all waiters at once; later calls do not wait.
  void stop();

 private:
  class Waiter;
  struct Queue;
  using LeaseRecords = std::vector<std::optional<LeaseRecord>>;

  std::shared_ptr<Queue> queue_of(DestinationNo destination);
  Task<std::shared_ptr<LeaseRoom::Permit>> wait_for_room(const Waiter& waiter,
                                                         LeaseRoom::Permit::Request request,
                                                         BootTime until,
                                                         const std::function<bool()>& is_gone);
  Task<std::shared_ptr<LeaseRoom::Permit>> room_for(const Waiter& waiter, DestinationNo from,
                                                    std::size_t max, BootTime until,
                                                    const std::function<bool()>& is_gone);
  void note(const store::Lease& lease, DestinationNo from, WallTime since);
  Task<Result<LeaseRecords>> records_of(std::span<const LeaseId> ids,
                                        const std::vector<bool>& asked);
  Disposition disposition_of(const WorkerResult& result, const std::optional<LeaseRecord>& record);
  AttemptNote note_of(const WorkerResult& result, const std::optional<LeaseRecord>& record) const;
  std::chrono::milliseconds lease_of(const std::optional<LeaseRecord>& record) const;
  Task<Result<std::vector<store::Settled>>> settle_owned(
      std::span<const std::optional<store::Settlement>> settlements);
  Task<Result<std::vector<store::Settled>>> settle_with_retry(
      std::span<const store::Settlement> settlements);
  Task<void> release_all(std::vector<store::Settlement> settlements, DestinationNo from);
  void notify_for(const LeaseRecords& records);

  Deps deps_;
  std::map<DestinationNo, std::weak_ptr<Queue>> queues_;  // alive while they have waiters
  bool stopping_ = false;
};

}  // namespace hapax::deliver
