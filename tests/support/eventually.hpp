// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace hapax::test {

// A test waits for an event, never for a time. Wait on a latch, a future, a pipe or a condition
// variable where the event has one. This is for events that nothing announces: a statement of
// another process that waits for a lock in PostgreSQL, a file that a server writes, a counter
// behind an interface. It evaluates `condition` again and again until it holds.
//
// True as soon as the condition holds. False if it still does not after `at_most`, which is a guard
// against a test that hangs and no part of what the test checks: make it a failure of the test
// (`ASSERT_TRUE(eventually(...))`), and leave it so large that no machine is too slow for it.
//
// No other place in the tests sleeps.
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
