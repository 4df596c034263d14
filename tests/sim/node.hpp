// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "deliver/push_dispatcher.hpp"
#include "gateway/receive.hpp"
#include "sim/async_store.hpp"
#include "sim/network.hpp"
#include "sim/timer_factory.hpp"
#include "support/faulty_driver.hpp"

#include <memory>
#include <vector>

namespace hapax::sim {

// A fault hits one in N calls of the store; 0: never.
struct StoreFaults {
  std::uint64_t any = 0;
  BootTime away = seconds(5);  // downtime after a crash
  StoreDelays delays = {};
};

// The wall clock of one machine, with a skew.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(Clock& clock) : clock_(clock) {}
  WallTime wall() const override { return clock_.wall() + skew_; }
  BootTime since_boot() const override { return clock_.since_boot(); }
  const std::string& boot_id() const override { return clock_.boot_id(); }
  void jump(std::chrono::microseconds to) { skew_ = to; }

 private:
  Clock& clock_;
  std::chrono::microseconds skew_{0};
};

class NoLog final : public Log {
 public:
  void line(Level level, std::string_view what, std::initializer_list<LogField> fields) override;
};

// The store as seen by one node: calls fail, get lost, or succeed with a lost answer.
class FaultyStore {
 public:
  FaultyStore(Lifecycle& lifecycle, const store::Driver& driver);

  store::fault::FaultyDriver& driver() { return driver_; }
  void change(const StoreFaults& faults);
  // The time of the last fault.
  BootTime last_fault() const { return last_fault_; }

 private:
  store::fault::Fault plan(std::string_view operation);

  Lifecycle& lifecycle_;
  StoreFaults faults_;
  BootTime last_fault_ = BootTime(-seconds(3600));
  store::fault::FaultyDriver driver_;
};

// The dependencies of every node.
struct NodeDeps {
  Timeline& timeline;
  const store::Driver& store;
  Network& network;
  Ledger& ledger;
  const std::vector<std::shared_ptr<const deliver::Destination>>& pushed;
};

// One server: the real gateway and dispatchers on simulated time, network and store. The destructor
// simulates kill -9.
class Node {
 public:
  Node(const NodeDeps& deps, const std::string& name, std::int64_t number,
       const StoreFaults& faults);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Lifecycle& lifecycle() { return lifecycle_; }
  SkewedClock& clock() { return clock_; }
  void change(const StoreFaults& faults);

  // Reloads the destination at index `which` of NodeDeps::pushed.
  void reload(std::size_t which, const std::shared_ptr<const deliver::Destination>& destination) {
    dispatchers_[which]->change(destination);
  }

  // Calls back on the node's event loop, unless the node dies first.
  using Answered = std::function<void(const gateway::Received&)>;
  void receive(const gateway::Source& source, const Request& request, Answered answered);

  bool accepts() const { return !stopping_ && !lifecycle_.stalled(); }
  std::int64_t number() const { return number_; }

  // Simulates SIGTERM.
  void stop(BootTime grace);
  // Returns whether the node has stopped and all its work is settled, released or dropped.
  bool stopped() const;
  void check_stopped();
  // Called after the longest possible attempt: expects no remains of the node.
  void check_gone();

 private:
  Task<void> serve(const gateway::Source& source, Request request, Answered answered);
  void maintain();
  Holder holder() const { return {Holder::Kind::push, number_}; }

  NodeDeps deps_;
  const std::int64_t number_;
  const Token owner_;
  BootTime renewed_ = BootTime::min();
  bool stopping_ = false;
  std::size_t running_ = 0;  // dispatchers
  std::size_t serving_ = 0;  // requests
  Lifecycle lifecycle_;
  SkewedClock clock_;
  NoLog log_;
  FaultyStore store_;
  SimTimerFactory timers_;
  SimAsyncStore async_store_;
  SimTransport transport_;
  DeliveryNotifier notifier_;
  gateway::NodeNumbers numbers_;
  gateway::DuplicateCounts duplicates_;
  gateway::UnclaimedRate unclaimed_;
  gateway::Receiver receiver_;
  std::vector<std::shared_ptr<deliver::PushDispatcher>> dispatchers_;
};

}  // namespace hapax::sim
