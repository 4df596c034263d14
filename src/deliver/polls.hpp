// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "model/numbers.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace hapax::deliver {

inline constexpr std::size_t kMaxPolls = 512;  // per node

// Limits concurrent long polls. A destination may use at most as many slots as are still free, so a
// single fleet gets half of them, the next one always finds some, and n busy fleets converge to
// 1/(n + 1) each. Thread-safe.
class Polls {
 public:
  explicit Polls(std::size_t most = kMaxPolls) : most_(most) {}
  Polls(const Polls&) = delete;
  Polls& operator=(const Polls&) = delete;

  // One slot, released on destruction. False: the destination gets no more slots now.
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
  std::map<DestinationNo, std::size_t> by_destination_;  // all above 0
};

}  // namespace hapax::deliver
