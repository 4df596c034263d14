// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// A test of a program replaces the clock: a claim expires without waiting 30 days.
#include <hapax/env.hpp>
#include <hapax/store.hpp>

#include <atomic>
#include <iostream>
#include <string>

class ManualClock final : public hapax::Clock {
 public:
  hapax::WallTime wall() const override { return hapax::WallTime(since_boot()); }
  hapax::BootTime since_boot() const override { return hapax::BootTime(now_us_); }
  const std::string& boot_id() const override { return boot_id_; }

  void set(hapax::BootTime now) { now_us_ = now.count(); }

 private:
  std::atomic<hapax::BootTime::rep> now_us_{0};  // store threads read it
  const std::string boot_id_ = "test";
};

int main() {
  ManualClock clock;  // outlives the store
  auto store = hapax::open("memory:", {.clock = &clock});
  if (!store) return 1;
  for (const int day : {0, 29, 30}) {
    clock.set(day * hapax::days);
    const auto seen = store->dedup({.scope = "example", .id = "evt_1", .ttl = 30 * hapax::days});
    if (!seen) return 1;
    std::cout << "day " << day << ": " << (seen->duplicate ? "duplicate" : "new") << '\n';
  }
}
