// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "async/delivery_notifier.hpp"
#include "deliver/replay_job.hpp"
#include "deliver/request_key.hpp"
#include "env/log.hpp"
#include "env/log_limit.hpp"
#include "store/contract.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hapax::deliver {

inline constexpr std::size_t kMaxReplays = 100;           // that are kept
inline constexpr std::size_t kMaxRunningReplays = 10;     // ... of which so many go on
inline constexpr std::chrono::hours kKeepReplay{7 * 24};  // after its end
inline constexpr std::chrono::seconds kReplayLease{10};

// Replays of many events. Each is a record in the store, so it outlives the process that began it:
// any node can resume an unowned one. It runs in small steps, at its rate. The results of a step
// bear the replay's number, so that a step repeated after a crash or a lost answer, or run twice at
// once, changes nothing.
//
// All but start() and stop() may be called by any thread; they ask the store and block.
class Replays {
 public:
  struct Deps {
    store::Driver& driver;
    Clock& clock;
    Random& random;
    DeliveryNotifier& notifier;
    Log& log;
    // No other process uses the store: replays of a dead process are free at once.
    bool alone = false;
  };

  explicit Replays(const Deps& deps);
  ~Replays();  // as stop()
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  void start();  // a thread that works on them
  void stop();   // others may go on with them at once

  // How many events match now. invalid_argument: too many to be counted in time.
  Result<std::uint64_t> count(const ReplayJob& wanted);
  // Counts, and keeps it; it is `done` at once when nothing matches. Of `wanted` only what is asked
  // for matters. store_full: kMaxRunningReplays go on.
  Result<ReplayJob> begin(ReplayJob wanted);
  // As begin(), for a request with a key: the job has the key's number, and the same request again,
  // on whatever node, gets the same job for as long as it is kept. Nothing: the key came with
  // another request.
  Result<std::optional<ReplayJob>> begin_once(ReplayJob wanted, const RequestKey& key);
  Result<std::optional<ReplayJob>> find(ReplayNo number);
  Result<std::vector<ReplayJob>> all();  // oldest first
  // Ends it; what was replayed, or is in the step that is under way, stays so. One that has ended
  // stays as it is. Nothing: there is none.
  Result<std::optional<ReplayJob>> cancel(ReplayNo number);

 private:
  // A job that this process works on.
  struct OwnedJob {
    ReplayJob job;
    store::Record record;     // as it is to be written
    std::int64_t before = 0;  // the version that it replaces
    bool written = true;
    BootTime next{};                               // when the next step is due
    std::vector<DestinationNo> destinations = {};  // to notify
  };
  using Jobs = std::map<std::string, OwnedJob>;

  void run();
  std::chrono::milliseconds run_due();
  void scan();
  void consider(const store::Record& record);
  void take(const store::Record& record, ReplayJob job);
  bool work(OwnedJob& owned);  // false: it has ended, or is not ours any more
  void step(OwnedJob& owned);
  void change(OwnedJob& owned);
  bool write(OwnedJob& owned);  // false: it is not ours any more
  void release_all();
  void wake();
  bool is_stopping();
  Result<void> make_room();
  Result<EventNo> newest();
  Result<ReplayJob> prepare(ReplayJob wanted);
  Result<bool> keep(const ReplayJob& job);
  void log_warning(std::string_view what, const Error& error);

  Deps deps_;
  const std::string owner_;
  Jobs owned_;  // of the thread, as what follows
  BootTime next_scan_{};
  LogLimit limit_;
  std::mutex counting_;  // one at a time: it takes long, and the threads that ask are few
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hapax::deliver
