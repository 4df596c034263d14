// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/push_dispatcher.hpp"
#include "sim/async_store.hpp"
#include "sim/node.hpp"
#include "sim/timer_factory.hpp"
#include "store/memory/driver.hpp"
#include "support/faulty_driver.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

// A test environment for dispatchers: simulated time, the memory store, and scripted handlers.
namespace hapax::deliver {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline AttemptResponse status(int code, std::string retry_after = {}) {
  AttemptResponse answer;
  answer.status = code;
  answer.retry_after = std::move(retry_after);
  return answer;
}

// An attempt as seen by the handler.
struct Seen {
  BootTime at{};
  std::string to;
  DeliveryRef which;
  unsigned attempt = 0;
  Fence fence;
};

// Gives scripted responses after scripted delays.
class ScriptedTransport final : public Transport {
 public:
  struct Act {
    AttemptResponse answer;
    BootTime after = milliseconds(10);
  };
  // If the script returns nullopt, the attempt hangs until the destination's timeout.
  using Script = std::function<std::optional<Act>(const Seen& seen)>;

  explicit ScriptedTransport(sim::Lifecycle& lifecycle) : lifecycle_(lifecycle) {}
  Task<AttemptResponse> send(const Destination& to, const store::Leased& what) override;

  Script script = [](const Seen&) { return std::optional(Act{status(200)}); };
  std::vector<Seen> seen;
  std::map<std::string, std::size_t> at_once;  // attempts in flight, by destination
  std::map<std::string, std::size_t> most_at_once;
  void die() { waiters_.clear(); }

 private:
  sim::Lifecycle& lifecycle_;
  sim::Waiters<AttemptResponse> waiters_;
};

class Stage {
 public:
  // By default store operations take no time.
  explicit Stage(const sim::StoreDelays& delays = {.least = {}, .most = {}});
  ~Stage();

  // Makes a destination with that name, adjusted by `change`.
  std::shared_ptr<const Destination> destination(
      const std::string& name, const std::function<void(Destination&)>& change = {});
  PushDispatcher& start(std::shared_ptr<const Destination> destination);
  // Admits an event for these destinations.
  EventNo send(std::vector<DestinationNo> to, const std::string& order_key = {});
  // Advances the simulated time and runs all work that becomes due.
  void run_for(BootTime length);
  BootTime now() { return timeline.now(); }

  store::DeliveryRow row(EventNo event, std::size_t delivery = 0);
  store::EventDetail detail(EventNo event);
  std::vector<Seen> seen_by(const std::string& destination) const;
  std::size_t running() const { return running_; }

  sim::Timeline timeline{1};
  sim::Lifecycle lifecycle{timeline, "node"};
  store::Driver memory = store::memory::make_driver(10'000, timeline.clock());
  // Called for each store operation; without it nothing fails.
  std::function<store::fault::Fault()> store_fault;
  std::vector<std::string> outcomes;  // as reported by the dispatchers
  DeliveryNotifier notifier;
  ScriptedTransport transport{lifecycle};

 private:
  store::fault::FaultyDriver faulty_;
  sim::SimTimerFactory timers_{lifecycle};
  sim::SimAsyncStore async_store_;
  sim::NoLog log_;
  std::vector<std::shared_ptr<PushDispatcher>> dispatchers_;
  std::size_t running_ = 0;
  std::int64_t last_event_ = 0;
};

}  // namespace hapax::deliver
