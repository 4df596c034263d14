// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

// The rows that a job of the crash tests leaves in the caller's database, for every kind of
// database.
namespace hapax::test {

inline constexpr std::string_view kJobs = "jobs";  // the scope of all of their ids

// The number of rows of one id. In a correct database all three are 0, or all three are 1.
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
