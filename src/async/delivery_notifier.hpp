// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/batch.hpp"

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <span>

namespace hapax {

// Notifies subscribers that deliveries of a destination may be due, so they rarely poll. A hint:
// events admitted by another node do not notify here. Thread-safe.
class DeliveryNotifier {
 public:
  class Subscription;

  // Called for every accepted request; free while no subscription is armed.
  void notify(std::span<const store::Target> targets);
  void notify(DestinationNo destination);

 private:
  void wake(DestinationNo destination);

  std::atomic<std::size_t> armed_ = 0;
  std::mutex mutex_;
  std::list<Subscription*> subscriptions_;
};

// One subscriber. `wake` is called by the notifying thread, under the notifier's mutex, once for
// each arm(); it must only post to the subscriber. The notifier must outlive it.
class DeliveryNotifier::Subscription {
 public:
  Subscription(DeliveryNotifier& notifier, DestinationNo destination, std::function<void()> wake);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  void arm();

 private:
  friend class DeliveryNotifier;

  DeliveryNotifier& notifier_;
  const DestinationNo destination_;
  const std::function<void()> wake_;
  bool is_armed_ = false;  // guarded by the notifier's mutex, like position_
  std::list<Subscription*>::iterator position_;
};

}  // namespace hapax
