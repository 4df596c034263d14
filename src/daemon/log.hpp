// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "env/log.hpp"

#include <cstdint>
#include <mutex>
#include <string>

namespace hapax::daemon {

enum class LogForm : std::uint8_t { text, json };

// One log line with its line end: the time, the level, `what` and all fields that are not empty.
std::string log_line(LogForm form, WallTime now, Level level, std::string_view what,
                     std::initializer_list<LogField> fields);

// Writes to standard error.
class StderrLog final : public Log {
 public:
  StderrLog(Clock& clock, LogForm form) : clock_(clock), form_(form) {}
  void line(Level level, std::string_view what, std::initializer_list<LogField> fields) override;

 private:
  Clock& clock_;
  const LogForm form_;
  std::mutex mutex_;
};

}  // namespace hapax::daemon
