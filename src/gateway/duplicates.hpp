// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "store/queue.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace hapax::gateway {

// Counts of duplicates that were answered and not yet written to the store. Counts are approximate:
// entries beyond the limit, unwritten entries at a crash, and writes that fail for good or with an
// unknown outcome are lost. Thread-safe.
class DuplicateCounts {
 public:
  static constexpr std::size_t kMaxEvents = 10'000;
  static constexpr std::size_t kAtOnce = 256;                 // events per transaction
  static constexpr std::size_t kMaxBytes = 16 * 1024 * 1024;  // of changed bodies

  void count(EventNo event);
  void count_changed(EventNo event, const Digest& digest, WallTime at, std::string_view body);

  // Writes up to kAtOnce events; returns whether there may be more. After a retryable error of the
  // store they are kept for a later call.
  Result<bool> write_to(store::Queue& queue);

 private:
  struct Changed {
    Digest digest{};
    WallTime at{};
    std::string body;
  };
  struct Entry {
    std::uint64_t count = 0;
    std::optional<Changed> changed;  // the last one
  };

  using Entries = std::map<EventNo, Entry>;

  Entry* entry_of(EventNo event);
  void keep_changed(Entry& entry, const Digest& digest, WallTime at, std::string_view body);
  Entries take();
  void put_back(const Entries& entries);

  std::mutex mutex_;
  Entries entries_;
  std::size_t bytes_ = 0;
};

}  // namespace hapax::gateway
