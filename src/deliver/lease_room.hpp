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

inline constexpr std::size_t kMaxLeaseRoom = std::size_t{96} * 1024 * 1024;  // of one node
inline constexpr std::size_t kSpareLeaseRoom = kMaxLeaseRoom / 4;  // besides, for who has none

// The memory of leases on their way to workers: taken before the store is asked, given back when
// the answer is written. A destination may have as much as is still free, as with Polls: workers
// that do not read their answers leave room for those of other destinations, and the node a bound.
// By halves it is soon too little to be of use, so a destination that has nothing may have a small
// part of what is spare: a sixteenth of it. Thread-safe.
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
  std::map<DestinationNo, std::size_t> by_destination_;  // none is 0
  std::list<Permit*> waiting_;                           // in the order they came
};

// A part of the memory, or a place in the queue for it.
class LeaseRoom::Permit {
 public:
  struct Request {
    DestinationNo destination;
    std::size_t most = 0;   // bytes
    std::size_t least = 0;  // fewer are of no use
  };

  // When there is not enough now, `granted` is called as soon as there is: once, by any thread, and
  // it only passes the word on.
  Permit(LeaseRoom& room, const Request& request, std::function<void()> granted);
  ~Permit();
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  std::size_t bytes() const;  // 0: it waits
  // What it really takes, more or less; not 0. Only of one that has some.
  void resize(std::size_t bytes);

 private:
  friend class LeaseRoom;

  LeaseRoom& room_;
  const Request request_;
  const std::function<void()> granted_;
  std::size_t bytes_ = 0;  // under the mutex of the room
};

}  // namespace hapax::deliver
