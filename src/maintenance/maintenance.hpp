// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/background_thread.hpp"
#include "env/log.hpp"
#include "gateway/duplicates.hpp"
#include "gateway/numbers.hpp"
#include "store/driver.hpp"

#include <functional>
#include <mutex>
#include <vector>

namespace hapax::maintenance {

inline constexpr std::chrono::seconds kNodeLease{60};
inline constexpr std::chrono::seconds kRenewNode{15};

// Periodic maintenance on one background thread: renews the node number, writes duplicate counts,
// and runs retention in small steps.
class Maintenance {
 public:
  struct Deps {
    store::Claims& claims;
    store::Queue& queue;
    store::Node& node;
    gateway::NodeNumbers& numbers;
    gateway::DuplicateCounts& duplicates;
    Clock& clock;
    Log& log;
  };

  // `owner` identifies this process in the store. `every_second` runs on the thread.
  Maintenance(const Deps& deps, const Token& owner, std::function<void()> every_second);
  ~Maintenance();  // as stop()
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

  // Takes or renews the node number. First called before anything is served.
  Result<void> take_node();
  void set_retention(std::vector<store::Periods> periods);  // for the next steps
  void start();
  void stop();  // writes the remaining counts, releases the node number

  // One round of the thread.
  void once_a_second();

 private:
  void renew_node();
  void count_duplicates(std::size_t steps);
  void make_ahead();
  void sweep();
  void rest_after_sweep();
  Result<bool> sweep_step(const std::vector<store::Periods>& periods);
  void log_warning(std::string_view what, const Error& error);

  Deps deps_;
  const Token owner_;
  const std::function<void()> every_second_;
  BootTime renewed_{};
  BootTime next_make_ahead_{};
  BootTime next_sweep_{};
  bool swept_ = false;         // all events; ids of dedup are next
  bool sweeping_ = false;      // a pass is in progress
  bool sweep_failed_ = false;  // a step of the pass failed
  BootTime sweep_began_{};
  std::mutex mutex_;
  std::vector<store::Periods> periods_;
  BackgroundThread thread_;  // last: it uses all of the above
};

}  // namespace hapax::maintenance
