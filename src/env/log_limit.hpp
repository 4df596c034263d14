// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <map>
#include <optional>
#include <string>

namespace hapax {

// So that a flood of bad requests is not one of log lines: one of a kind each second. There must be
// a bounded number of kinds. For one thread.
class LogLimit {
 public:
  explicit LogLimit(Clock& clock) : clock_(clock) {}

  // How many of the kind were held back since the last one, as text, empty for none; nothing: hold
  // this one back too.
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
