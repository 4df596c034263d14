// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/maintenance.hpp"

#include "base/try.hpp"

#include <algorithm>
#include <utility>

namespace hapax::maintenance {

namespace {

constexpr std::chrono::seconds kMakeAheadAgain{60};
// The rest after everything was looked at: ten times as long as that took, within these.
constexpr std::chrono::seconds kSweepAgain{30};
constexpr std::chrono::seconds kSweepAgainAtLast{600};
constexpr int kRestFactor = 10;
constexpr std::size_t kRowsAtOnce = 500;
constexpr std::size_t kStepsAtOnce = 20;
// At the end: all that there can be.
constexpr std::size_t kLastCountSteps =
    gateway::DuplicateCounts::kMaxEvents / gateway::DuplicateCounts::kAtOnce + 1;

}  // namespace

Maintenance::Maintenance(const Deps& deps, const Token& owner, std::function<void()> every_second)
    : deps_(deps), owner_(owner), every_second_(std::move(every_second)), worker_([this] {
        once_a_second();
        return std::chrono::seconds(1);
      }) {}

Maintenance::~Maintenance() {
  stop();
}

Result<void> Maintenance::take_node() {
  // Counted from before the call: the store counts from some time after it.
  const BootTime start = deps_.clock.since_boot();
  HAPAX_TRY_ASSIGN(node, deps_.driver.take_node(owner_, kNodeLease));
  deps_.numbers.assign(node, start + kNodeLease);
  renewed_ = start;
  return {};
}

void Maintenance::set_retention(std::vector<store::Periods> periods) {
  const std::lock_guard lock(mutex_);
  periods_ = std::move(periods);
}

void Maintenance::start() {
  worker_.start();
}

void Maintenance::stop() {
  if (!worker_.stop()) return;
  count_duplicates(kLastCountSteps);
  if (Result<void> left = deps_.driver.leave_node(owner_); !left) {
    log_warning("node number not released", left.error());
  }
}

void Maintenance::once_a_second() {
  if (deps_.clock.since_boot() - renewed_ >= kRenewNode) renew_node();
  count_duplicates(kStepsAtOnce);
  if (deps_.clock.since_boot() >= next_make_ahead_) make_ahead();
  if (deps_.clock.since_boot() >= next_sweep_) sweep();
  every_second_();  // last: it may wait for the store, and the node's number does not
}

void Maintenance::renew_node() {
  if (Result<void> taken = take_node(); !taken)
    log_warning("node number not renewed", taken.error());
}

void Maintenance::count_duplicates(std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    const Result<bool> more = deps_.duplicates.write_to(deps_.driver);
    if (!more) log_warning("duplicates not counted", more.error());
    if (!more || !*more) return;
  }
}

// Not needed yet: failures are retried.
void Maintenance::make_ahead() {
  next_make_ahead_ = deps_.clock.since_boot() + kMakeAheadAgain;
  if (Result<void> made = deps_.driver.make_ahead(); !made) {
    log_warning("partitions for tomorrow not created", made.error());
  }
}

// Some steps now and the rest a second later, so that the others get their turn. What fails holds
// up nothing else, and is tried again in the next round.
void Maintenance::sweep() {
  std::vector<store::Periods> periods;
  {
    const std::lock_guard lock(mutex_);
    periods = periods_;
  }
  if (!std::exchange(sweeping_, true)) sweep_began_ = deps_.clock.since_boot();
  bool failed = false;
  for (std::size_t step = 0; step < kStepsAtOnce; ++step) {
    const Result<bool> done = sweep_step(periods);
    if (!done) {
      log_warning("retention failed", done.error());
      failed = true;
    }
    if (done && !*done) continue;
    swept_ = !swept_;
    if (swept_) continue;
    if (!failed) rest_after_sweep();
    return;
  }
}

void Maintenance::rest_after_sweep() {
  const BootTime now = deps_.clock.since_boot();
  next_sweep_ = now + std::clamp<BootTime>(kRestFactor * (now - sweep_began_), kSweepAgain,
                                           kSweepAgainAtLast);
  sweeping_ = false;
}

// The events to their end and then the ids: each knows only how far it came itself, and to begin
// with the events again would leave the ids a step for each time that all events were looked at.
Result<bool> Maintenance::sweep_step(const std::vector<store::Periods>& periods) {
  if (swept_) {
    HAPAX_TRY_ASSIGN(purged, deps_.driver.purge(kRowsAtOnce));
    return purged.done;
  }
  HAPAX_TRY_ASSIGN(swept, deps_.driver.sweep({.periods = periods, .limit = kRowsAtOnce}));
  return swept.done;
}

void Maintenance::log_warning(std::string_view what, const Error& error) {
  deps_.log.line(Level::warning, what, {{"error", error.to_string()}});
}

}  // namespace hapax::maintenance
