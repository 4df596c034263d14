// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/node.hpp"

namespace hapax::sim {

// A pull worker with its own database, which honors the idempotency key. It is sometimes slow,
// sometimes fails, and continues after its lease has expired. The destructor simulates kill -9.
class Worker {
 public:
  struct WorkerBehavior {
    std::uint64_t fails = 0;  // one in N; 0: never
    std::uint64_t drops = 0;
    std::uint64_t sleeps = 0;  // past its lease
    std::uint64_t renews = 4;
  };

  Worker(const NodeDeps& deps, const std::string& name, std::int64_t number,
         DestinationNo destination, const StoreFaults& faults);

  Lifecycle& lifecycle() { return lifecycle_; }
  void change(const StoreFaults& faults, const WorkerBehavior& behavior);
  void stop() { stopping_ = true; }

 private:
  void poll();
  void begin(const std::shared_ptr<const store::Leased>& leased);
  void work(const std::shared_ptr<const store::Leased>& leased);
  void settle(const std::shared_ptr<const store::Leased>& leased, const Disposition& disposition,
              int tries);

  NodeDeps deps_;
  Lifecycle lifecycle_;
  FaultyStore store_;
  const std::int64_t number_;
  const DestinationNo destination_;
  WorkerBehavior behavior_;
  bool stopping_ = false;
};

}  // namespace hapax::sim
