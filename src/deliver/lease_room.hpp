// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <mutex>

namespace hapax::deliver {

inline constexpr std::size_t kMaxLeaseRoom = std::size_t{96} * 1024 * 1024;  // per node
inline constexpr std::size_t kSpareLeaseRoom = kMaxLeaseRoom / 4;  // in addition, see below

// Limits the memory of lease responses: reserved before the store query, released when the response
// is written. A destination may hold at most as much as is still free, as with Polls. Workers that
// do not read their responses thus leave memory to other destinations, and the total is bounded.
// Repeated halving soon leaves too little for one delivery, so a destination that holds nothing may
// also reserve up to a sixteenth of the spare memory. Thread-safe.
class LeaseRoom {
 public:
  class Permit;

  explicit LeaseRoom(std::size_t most = kMaxLeaseRoom, std::size_t spare = kSpareLeaseRoom)
      : most_(most), spare_(spare) {}
  LeaseRoom(const LeaseRoom&) = delete;
  LeaseRoom& operator=(const LeaseRoom&) = delete;

  std::size_t taken() const;

 private:
  std::size_t free_for(DestinationNo destination) const;
  bool may_have_spare(const Permit& permit) const;
  bool grant(Permit& to);
  void change(Permit& of, std::size_t bytes);
  void grant_next();

  const std::size_t most_;
  const std::size_t spare_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::map<DestinationNo, std::size_t> by_destination_;  // all above 0
  std::list<Permit*> waiting_;                           // in order of arrival
};

// A share of the memory, or a place in the queue for one.
class LeaseRoom::Permit {
 public:
  struct Request {
    DestinationNo destination;
    std::size_t most = 0;   // bytes
    std::size_t least = 0;  // a smaller share is not granted
  };

  // If too little is free, `granted` is called once when the share is granted: on any thread, under
  // the mutex of the room, so it must only post.
  Permit(LeaseRoom& room, const Request& request, std::function<void()> granted);
  ~Permit();
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  std::size_t bytes() const;  // 0: queued
  // Sets the size in use, larger or smaller, not 0. Only for a granted permit.
  void resize(std::size_t bytes);

 private:
  friend class LeaseRoom;

  LeaseRoom& room_;
  const Request request_;
  const std::function<void()> granted_;
  std::size_t bytes_ = 0;  // under the mutex of the room
};

}  // namespace hapax::deliver
