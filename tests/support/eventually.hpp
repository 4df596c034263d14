// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace hapax::test {

// Tests wait for events, never for fixed times. Wait on a latch, a future, a pipe or a condition
// variable if the event has one. This function is for events without a notification: a statement of
// another process that waits for a lock in PostgreSQL, a file that a server writes, a counter
// behind an interface. It polls `condition` until it holds.
//
// Returns true as soon as the condition holds, and false if it still does not after `at_most`. That
// limit only keeps a test from hanging; it is not part of what the test checks. Make it a test
// failure (`ASSERT_TRUE(eventually(...))`), and keep it long enough for the slowest machine.
//
// No other code in the tests sleeps.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition,
                                     std::chrono::seconds at_most = std::chrono::minutes(5)) {
  constexpr std::chrono::milliseconds kPause{2};
  const auto give_up = std::chrono::steady_clock::now() + at_most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace hapax::test
