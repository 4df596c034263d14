// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <map>
#include <optional>
#include <string>

namespace hapax {

// Limits log lines to one of each kind per second, so that a flood of bad requests does not flood
// the log. The number of kinds must be bounded. Not thread-safe.
class LogLimit {
 public:
  explicit LogLimit(Clock& clock) : clock_(clock) {}

  // Returns the number of lines of this kind suppressed since the last one, as text (empty for
  // none), or nullopt if this line must be suppressed too.
  std::optional<std::string> pass(std::string kind) {
    Kind& entry = kinds_[std::move(kind)];
    const BootTime now = clock_.since_boot();
    if (now < entry.until) {
      ++entry.held_back;
      return std::nullopt;
    }
    const std::size_t more = entry.held_back;
    entry = {now + std::chrono::seconds(1), 0};
    return more == 0 ? std::string() : std::to_string(more);
  }

 private:
  struct Kind {
    BootTime until{};
    std::size_t held_back = 0;
  };

  Clock& clock_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace hapax
