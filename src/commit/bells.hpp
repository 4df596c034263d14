// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/inbox_queue.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <span>

namespace hapax {

// Tells those who wait for deliveries of a destination that there may be some, so that nobody has
// to ask often. A hint: what another node admits rings no bell here. Thread-safe.
class Bells {
 public:
  class Ear;

  // On the way of every accepted request; costs nothing while nobody waits.
  void ring(std::span<const store::Target> targets);
  void ring(DestinationNo destination);

 private:
  void wake(DestinationNo destination);

  std::atomic<std::size_t> armed_ = 0;
  std::mutex mutex_;
  std::list<Ear*> ears_;
};

// Somebody who listens. `wake` is called by the thread that rings, once for each arm(); it only
// passes the word on. Bells must outlive it.
class Bells::Ear {
 public:
  Ear(Bells& bells, DestinationNo destination, std::function<void()> wake);
  ~Ear();
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  void arm();

 private:
  friend class Bells;

  Bells& bells_;
  const DestinationNo destination_;
  const std::function<void()> wake_;
  bool is_armed_ = false;  // under the mutex of the bells, as place_ is
  std::list<Ear*>::iterator place_;
};

}  // namespace hapax
