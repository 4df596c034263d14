// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace hapax::test {

// While it lives, the nth step of all SQLite handles that are opened is interrupted; SQLite then
// ends the statement, and mostly the whole transaction with it. One at a time.
class Interruption {
 public:
  explicit Interruption(std::int64_t nth = 0);  // 0: none, until arm()
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  void arm(std::int64_t nth);  // counted from now on
  bool reached() const;

  // Since arm(): how many steps there were, and the first after each end of a transaction: an
  // interruption there comes too late for its COMMIT, which fails and has taken effect.
  std::int64_t steps() const;
  std::vector<std::int64_t> ends() const;
};

}  // namespace hapax::test
