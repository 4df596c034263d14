// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.hpp"

#include "sim/chaos.hpp"
#include "store/open.hpp"

#include <algorithm>

namespace hapax::sim {

namespace {

constexpr BootTime kLivenessBound = std::chrono::minutes(30);
constexpr std::size_t kMostSteps = 5'000'000;

// One simulation from a seed, with its history.
class Simulation {
 public:
  explicit Simulation(const Options& options)
      : timeline_(options.seed),
        store_(open(options)),
        cluster_(timeline_, store_->driver, options.nodes),
        options_(options) {
    timeline_.show_all(options.show);
  }

  Report run() {
    const std::size_t events = options_.events > 0 ? options_.events : 20 + timeline_.below(80);
    const BootTime span = timeline_.between(seconds(5), seconds(90));
    cluster_.senders().plan(cluster_.sources(), events, span);
    Chaos chaos(timeline_, cluster_);
    chaos.start();
    play(timeline_.now() + span + timeline_.between(seconds(1), seconds(60)), [] { return false; });
    chaos.end();
    timeline_.note("world", "has no more faults");
    run_to_completion();
    if (!timeline_.failure()) stop();
    return report(events);
  }

 private:
  std::unique_ptr<store::Opened> open(const Options& options) {
    OpenOptions how;
    how.clock = &timeline_.clock();
    if (options.sqlite) directory_.emplace();
    return store::open_store(directory_ ? "sqlite:" + directory_->file("sim.db") : "memory:", how)
        .value();
  }

  // Runs until `until` or until `is_done`, which is checked once a second, returns true. Returns
  // whether it did.
  bool play(BootTime until, const std::function<bool()>& is_done) {
    BootTime next_check = timeline_.now();
    while (!timeline_.failure()) {
      if (++steps_ > kMostSteps) timeline_.fail("liveness", "the simulation does not end");
      if (cluster_.poll()) continue;
      if (timeline_.now() >= next_check) {
        if (is_done()) return true;
        next_check = timeline_.now() + seconds(1);
      }
      if (!timeline_.step(until)) return false;
    }
    return false;
  }

  void run_to_completion() {
    const BootTime until = timeline_.now() + kLivenessBound;
    const bool done = play(until, [&] {
      cluster_.unblock();
      return cluster_.complete() && cluster_.senders().all_acked() &&
             cluster_.ledger().not_ended().empty();
    });
    if (done) return;
    const std::string what = cluster_.ledger().not_ended();
    timeline_.fail("liveness", what.empty() ? "a sender is still waiting for its response" : what);
  }

  void stop() {
    const BootTime grace = seconds(5);
    for (const auto& each : cluster_.nodes()) each->stop(grace);
    for (const auto& each : cluster_.workers()) each->stop();
    const auto all_stopped = [&] {
      return std::all_of(cluster_.nodes().begin(), cluster_.nodes().end(),
                         [](const auto& each) { return each->stopped(); });
    };
    if (!play(timeline_.now() + grace + seconds(10), all_stopped)) {
      timeline_.fail("stop", "a node does not stop");
    }
    play(timeline_.now() + seconds(120), [] { return false; });
    for (const auto& each : cluster_.nodes()) {
      each->check_stopped();
      each->check_gone();
    }
    cluster_.ledger().check_end();
    cluster_.senders().check_end();
  }

  Report report(std::size_t events) {
    std::string summary = std::to_string(events) + " events, " +
                          std::to_string(cluster_.senders().acked()) + " acked, " +
                          std::to_string(cluster_.ledger().deliveries().size()) + " deliveries, " +
                          std::to_string(cluster_.ledger().attempts()) + " attempts, " +
                          std::to_string(cluster_.ledger().effects()) + " effects, " +
                          std::to_string(timeline_.now() / seconds(1)) + " s";
    return {timeline_.failure(), timeline_.hash(), timeline_.last_lines(), std::move(summary)};
  }

  Timeline timeline_;
  std::optional<test::TempDir> directory_;
  std::unique_ptr<store::Opened> store_;
  Cluster cluster_;
  const Options options_;
  std::size_t steps_ = 0;
};

}  // namespace

Report simulate(const Options& options) {
  return Simulation(options).run();
}

}  // namespace hapax::sim
