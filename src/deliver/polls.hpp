// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace hapax::deliver {

inline constexpr std::size_t kMaxPolls = 512;  // of one node

// The places of those who wait for deliveries, shared out between destinations: one may have as
// many as are still free. So a fleet that is alone gets half of them, whoever comes next always
// finds some, and, because polls end and come again, n busy fleets come to an (n + 1)th each.
// Thread-safe.
class Polls {
 public:
  explicit Polls(std::size_t most = kMaxPolls) : most_(most) {}
  Polls(const Polls&) = delete;
  Polls& operator=(const Polls&) = delete;

  // One of them; given back with it. False: this destination may have no more now.
  class Permit {
   public:
    Permit(Polls& polls, DestinationNo destination)
        : polls_(polls), destination_(destination), has_(polls.take(destination)) {}
    ~Permit() {
      if (has_) polls_.release(destination_);
    }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    explicit operator bool() const { return has_; }

   private:
    Polls& polls_;
    const DestinationNo destination_;
    const bool has_;
  };

 private:
  bool take(DestinationNo destination);
  void release(DestinationNo destination);

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::map<DestinationNo, std::size_t> by_destination_;  // none is 0
};

}  // namespace hapax::deliver
