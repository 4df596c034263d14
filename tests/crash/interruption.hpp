// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace hapax::test {

// While this object exists, the nth step over all newly opened SQLite handles is interrupted.
// SQLite then ends the statement, and usually the whole transaction. One object at a time.
class Interruption {
 public:
  explicit Interruption(std::int64_t nth = 0);  // 0: none, until arm()
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void arm(std::int64_t nth);  // restarts the count
  bool reached() const;

  // Since arm(): the number of steps, and the first step after each end of a transaction. An
  // interruption there is too late for the COMMIT, which reports failure although it took effect.
  std::int64_t steps() const;
  std::vector<std::int64_t> ends() const;
};

}  // namespace hapax::test
