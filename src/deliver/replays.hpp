// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/delivery_notifier.hpp"
#include "deliver/replay_job.hpp"
#include "deliver/request_key.hpp"
#include "env/background_thread.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "store/driver.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace hapax::deliver {

inline constexpr std::size_t kMaxReplays = 100;           // stored
inline constexpr std::size_t kMaxRunningReplays = 10;     // ... of which running
inline constexpr std::chrono::hours kKeepReplay{7 * 24};  // after its end
inline constexpr std::chrono::seconds kReplayLease{10};

// Bulk replays. Each is a record in the store, so it outlives the process that started it: any node
// can resume an unowned one. It runs in small steps, at its rate. The deliveries of a step have the
// number of the replay, so a step that is repeated after a crash or a lost answer, or runs twice
// concurrently, changes nothing.
//
// All functions but start() and stop() are thread-safe and block on the store.
class Replays {
 public:
  struct Deps {
    store::Queue& queue;
    store::Catalog& catalog;
    store::Node& node;
    Clock& clock;
    Random& random;
    DeliveryNotifier& notifier;
    Log& log;
    // No other process uses the store: replays of a dead process are resumed at once.
    bool alone = false;
  };

  explicit Replays(const Deps& deps);
  ~Replays();  // as stop()
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  void start();  // starts the worker thread
  void stop();   // other nodes may resume the replays at once

  // How many events match now. invalid_argument: too many to count in time; store_busy: another
  // count is running.
  Result<std::uint64_t> count(const ReplayJob& wanted);
  // Counts the events and stores the job, which is `done` at once if nothing matches. Only the
  // request in `wanted` is used. store_full: kMaxRunningReplays are running.
  Result<ReplayJob> begin(ReplayJob wanted);
  // As begin(), for a request with an idempotency key. The job has the number of the key; a
  // repeated request, on any node, gets the same job while it is stored. nullopt: the key was used
  // with another request.
  Result<std::optional<ReplayJob>> begin_once(ReplayJob wanted, const RequestKey& key);
  Result<std::optional<ReplayJob>> find(ReplayNo number);
  Result<std::vector<ReplayJob>> all();  // oldest first
  // Ends a job. Its replayed deliveries, and those of the running step, stay replayed. A job that
  // has ended is returned unchanged. nullopt: no such job.
  Result<std::optional<ReplayJob>> cancel(ReplayNo number);

 private:
  // A job owned by this process.
  struct OwnedJob {
    ReplayJob job;
    store::Record record;     // to write
    std::int64_t before = 0;  // the version it replaces
    bool written = true;
    BootTime next{};                               // when the next step is due
    std::vector<DestinationNo> destinations = {};  // to notify
  };
  using Jobs = std::map<std::string, OwnedJob>;

  std::chrono::milliseconds run_due();
  void scan();
  void consider(const store::Record& record);
  void take(const store::Record& record, ReplayJob job);
  bool work(OwnedJob& owned);  // false: ended, or no longer owned
  void step(OwnedJob& owned);
  void change(OwnedJob& owned);
  bool write(OwnedJob& owned);  // false: no longer owned
  void release_all();
  Result<void> make_room();
  Result<EventNo> newest();
  Result<ReplayJob> prepare(ReplayJob wanted);
  Result<bool> keep(const ReplayJob& job);
  void log_warning(std::string_view what, const Error& error);

  Deps deps_;
  const std::string owner_;
  Jobs owned_;  // only the worker thread, like the next two
  BootTime next_scan_{};
  LogLimit limit_;
  std::mutex counting_;  // one count at a time: it is slow, and blocking threads are few
  std::atomic<bool> scan_now_ = false;
  BackgroundThread thread_;  // last: it uses all of the above
};

}  // namespace hapax::deliver
