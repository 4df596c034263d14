// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "upkeep/upkeep.hpp"

#include "base/try.hpp"

namespace hapax::upkeep {

namespace {

constexpr std::chrono::seconds kSweepAgain{30};  // after everything was looked at
constexpr std::size_t kRowsAtOnce = 500;
constexpr std::size_t kStepsAtOnce = 20;
// At the end: all that there can be.
constexpr std::size_t kLastCountSteps =
    gateway::DuplicateCounts::kMaxEvents / gateway::DuplicateCounts::kAtOnce + 1;

}  // namespace

Upkeep::Upkeep(const With& with, const Token& owner, std::function<void()> every_second)
    : with_(with), owner_(owner), every_second_(std::move(every_second)), worker_([this] {
        once_a_second();
        return std::chrono::seconds(1);
      }) {}

Upkeep::~Upkeep() {
  stop();
}

Result<void> Upkeep::take_node() {
  // Counted from before the call: the store counts from some time after it.
  const BootTime start = with_.clock.since_boot();
  HAPAX_TRY_ASSIGN(node, with_.driver.take_node(owner_, kNodeLease));
  with_.numbers.lend(node, start + kNodeLease);
  renewed_ = start;
  return {};
}

void Upkeep::keep(std::vector<store::Periods> periods) {
  const std::lock_guard lock(mutex_);
  periods_ = std::move(periods);
}

void Upkeep::start() {
  worker_.start();
}

void Upkeep::stop() {
  if (!worker_.stop()) return;
  count_duplicates(kLastCountSteps);
  if (Result<void> left = with_.driver.leave_node(owner_); !left) {
    complain("node number not given back", left.error());
  }
}

void Upkeep::once_a_second() {
  if (with_.clock.since_boot() - renewed_ >= kRenewNode) renew_node();
  count_duplicates(kStepsAtOnce);
  if (with_.clock.since_boot() >= next_sweep_) sweep();
  every_second_();  // last: it may wait for the store, and the node's number does not
}

void Upkeep::renew_node() {
  if (Result<void> taken = take_node(); !taken) complain("node number not renewed", taken.error());
}

void Upkeep::count_duplicates(std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    const Result<bool> more = with_.duplicates.write_to(with_.driver);
    if (!more) complain("duplicates not counted", more.error());
    if (!more || !*more) return;
  }
}

// Some steps now and the rest a second later, so that the others get their turn.
void Upkeep::sweep() {
  std::vector<store::Periods> periods;
  {
    const std::lock_guard lock(mutex_);
    periods = periods_;
  }
  for (std::size_t step = 0; step < kStepsAtOnce; ++step) {
    const Result<bool> done = sweep_step(periods);
    if (!done) return complain("retention is behind", done.error());
    if (!*done) continue;
    swept_ = !swept_;
    if (swept_) continue;
    next_sweep_ = with_.clock.since_boot() + kSweepAgain;
    return;
  }
}

// The events to their end and then the ids: each knows only how far it came itself, and to begin
// with the events again would leave the ids a step for each time that all events were looked at.
Result<bool> Upkeep::sweep_step(const std::vector<store::Periods>& periods) {
  if (swept_) {
    HAPAX_TRY_ASSIGN(purged, with_.driver.purge(kRowsAtOnce));
    return purged.done;
  }
  HAPAX_TRY_ASSIGN(swept, with_.driver.sweep({.periods = periods, .limit = kRowsAtOnce}));
  return swept.done;
}

void Upkeep::complain(std::string_view what, const Error& error) {
  with_.log.line(Level::warning, what, {{"error", error.to_string()}});
}

}  // namespace hapax::upkeep
