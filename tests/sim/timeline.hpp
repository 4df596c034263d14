// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include "support/world.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A deterministic world: time stands still until all ready work is done, then jumps to the next
// scheduled action. All randomness comes from one seed, so the same seed gives the same history.
namespace hapax::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A violated oracle.
struct Failure {
  std::string oracle;
  std::string detail;
};

class Timeline {
 public:
  explicit Timeline(std::uint64_t seed) : random_(seed) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  test::ManualClock& clock() { return clock_; }
  BootTime now() const { return clock_.since_boot(); }

  // Randomness.
  test::SeededRandom& random() { return random_; }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t count) { return count != 0 && below(count) == 0; }
  BootTime between(BootTime least, BootTime most);

  // Schedules an action. Actions at the same time run in the order of the calls.
  void at(BootTime when, std::function<void()> what);
  void in(BootTime delay, std::function<void()> what) { at(now() + delay, std::move(what)); }
  // Advances to the next action and runs it. Returns false if there is none before `until`.
  bool step(BootTime until);

  // The history. The last lines are kept; all lines are in the hash.
  void note(std::string_view who, std::string_view what);
  std::uint64_t hash() const { return hash_; }
  const std::deque<std::string>& last_lines() const { return lines_; }
  void show_all(std::function<void(const std::string&)> show) { show_ = std::move(show); }

  // Only the first failure is recorded; it ends the run.
  void fail(std::string_view oracle, std::string detail);
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  static constexpr std::size_t kKeptLines = 60;

  test::ManualClock clock_;
  test::SeededRandom random_;
  std::map<std::pair<BootTime, std::uint64_t>, std::function<void()>> queue_;
  std::uint64_t entered_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  std::deque<std::string> lines_;
  std::function<void(const std::string&)> show_;
  std::optional<Failure> failure_;
};

}  // namespace hapax::sim
