// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

// What the jobs of the crash tests leave in a caller's database, of whatever kind it is.
namespace hapax::test {

inline constexpr std::string_view kJobs = "jobs";  // the scope of all of their ids

// What is in the database of one id. Each is 0 or 1 if all is well, and all are the same.
struct Traces {
  std::int64_t claims = 0;
  std::int64_t rows = 0;
  std::int64_t messages = 0;

  friend bool operator==(const Traces&, const Traces&) = default;
};
inline constexpr Traces kNothing{};
inline constexpr Traces kAll{.claims = 1, .rows = 1, .messages = 1};

inline std::ostream& operator<<(std::ostream& out, const Traces& traces) {
  return out << traces.claims << " claims, " << traces.rows << " rows, " << traces.messages
             << " messages";
}

}  // namespace hapax::test
