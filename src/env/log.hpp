// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace hapax {

enum class Level : std::uint8_t { info, warning, error };

struct LogField {
  std::string_view name;
  std::string_view value;  // any bytes; the log escapes them. Never a secret or a payload
};

// The structured log, one line per notable occurrence. Thread-safe.
class Log {
 public:
  virtual ~Log() = default;
  // `what` is a constant, so that lines can be counted: "request rejected", "rejects not stored".
  virtual void line(Level level, std::string_view what, std::initializer_list<LogField> fields) = 0;
};

}  // namespace hapax
