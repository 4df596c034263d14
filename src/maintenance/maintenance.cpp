// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "maintenance/maintenance.hpp"

#include "base/try.hpp"

#include <algorithm>
#include <utility>

namespace hapax::maintenance {

namespace {

constexpr std::chrono::seconds kMakeAheadAgain{60};
// The pause after a complete retention pass: ten times its duration, within these limits.
constexpr std::chrono::seconds kSweepAgain{30};
constexpr std::chrono::seconds kSweepAgainAtLast{600};
constexpr int kRestFactor = 10;
constexpr std::size_t kRowsAtOnce = 500;
constexpr std::size_t kStepsAtOnce = 20;
// At shutdown: enough for all counts.
constexpr std::size_t kLastCountSteps =
    gateway::DuplicateCounts::kMaxEvents / gateway::DuplicateCounts::kAtOnce + 1;

}  // namespace

Maintenance::Maintenance(const Deps& deps, const Token& owner, std::function<void()> every_second)
    : deps_(deps), owner_(owner), every_second_(std::move(every_second)), thread_([this] {
        once_a_second();
        return std::chrono::seconds(1);
      }) {}

Maintenance::~Maintenance() {
  stop();
}

Result<void> Maintenance::take_node() {
  // The lease is counted from before the call, so that it ends here before it ends in the store.
  const BootTime start = deps_.clock.since_boot();
  HAPAX_TRY_ASSIGN(node, deps_.node.take_node(owner_, kNodeLease));
  deps_.numbers.assign(node, start + kNodeLease);
  renewed_ = start;
  return {};
}

void Maintenance::set_retention(std::vector<store::Periods> periods) {
  const std::lock_guard lock(mutex_);
  periods_ = std::move(periods);
}

void Maintenance::start() {
  thread_.start();
}

void Maintenance::stop() {
  if (!thread_.stop()) return;
  count_duplicates(kLastCountSteps);
  if (Result<void> left = deps_.node.leave_node(owner_); !left) {
    log_warning("node number not released", left.error());
  }
}

void Maintenance::once_a_second() {
  if (deps_.clock.since_boot() - renewed_ >= kRenewNode) renew_node();
  count_duplicates(kStepsAtOnce);
  if (deps_.clock.since_boot() >= next_make_ahead_) make_ahead();
  if (deps_.clock.since_boot() >= next_sweep_) sweep();
  every_second_();  // last: it may block on the store, which must not delay the renewal
}

void Maintenance::renew_node() {
  if (Result<void> taken = take_node(); !taken)
    log_warning("node number not renewed", taken.error());
}

void Maintenance::count_duplicates(std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    const Result<bool> more = deps_.duplicates.write_to(deps_.queue);
    if (!more) log_warning("duplicates not counted", more.error());
    if (!more || !*more) return;
  }
}

// Failures are retried: the partitions are not needed yet.
void Maintenance::make_ahead() {
  next_make_ahead_ = deps_.clock.since_boot() + kMakeAheadAgain;
  if (Result<void> made = deps_.queue.make_ahead(); !made) {
    log_warning("partitions for tomorrow not created", made.error());
  }
}

// Runs some steps now and the rest a second later, so that other maintenance is not delayed. A
// failure does not block the other half of the pass; the next pass then follows without a pause.
void Maintenance::sweep() {
  std::vector<store::Periods> periods;
  {
    const std::lock_guard lock(mutex_);
    periods = periods_;
  }
  if (!std::exchange(sweeping_, true)) sweep_began_ = deps_.clock.since_boot();
  for (std::size_t step = 0; step < kStepsAtOnce; ++step) {
    const Result<bool> done = sweep_step(periods);
    if (!done) {
      log_warning("retention failed", done.error());
      sweep_failed_ = true;
    }
    if (done && !*done) continue;
    swept_ = !swept_;
    if (swept_) continue;
    if (!std::exchange(sweep_failed_, false)) rest_after_sweep();
    return;
  }
}

void Maintenance::rest_after_sweep() {
  const BootTime now = deps_.clock.since_boot();
  next_sweep_ = now + std::clamp<BootTime>(kRestFactor * (now - sweep_began_), kSweepAgain,
                                           kSweepAgainAtLast);
  sweeping_ = false;
}

// A pass first deletes all expired events, then all expired ids. Each resumes from its own cursor.
// Starting each round with the events would leave the ids one step per pass over all events.
Result<bool> Maintenance::sweep_step(const std::vector<store::Periods>& periods) {
  if (swept_) {
    HAPAX_TRY_ASSIGN(purged, deps_.claims.purge(kRowsAtOnce));
    return purged.done;
  }
  HAPAX_TRY_ASSIGN(swept, deps_.queue.sweep({.periods = periods, .limit = kRowsAtOnce}));
  return swept.done;
}

void Maintenance::log_warning(std::string_view what, const Error& error) {
  deps_.log.line(Level::warning, what, {{"error", error.to_string()}});
}

}  // namespace hapax::maintenance
