// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// A simulated machine with faulty clocks, and the true time beside them.
namespace hapax::test {

class MachineClock final : public Clock {
 public:
  MachineClock(std::string boot_id, std::chrono::microseconds boot, std::chrono::microseconds wall)
      : boot_id_(std::move(boot_id)), boot_(boot), wall_(wall) {}

  WallTime wall() const override { return WallTime(wall_); }
  BootTime since_boot() const override { return boot_; }
  const std::string& boot_id() const override { return boot_id_; }

 private:
  friend class Machine;
  std::string boot_id_;
  std::chrono::microseconds boot_;
  std::chrono::microseconds wall_;
};

class Machine {
 public:
  Machine() { start(std::chrono::milliseconds(0)); }

  Clock& clock() { return *clock_; }
  std::chrono::microseconds true_time() const { return true_; }
  std::chrono::microseconds wall_error() const { return clock_->wall_ - true_; }
  std::chrono::microseconds boot_clock() const { return clock_->boot_; }

  void run(std::chrono::microseconds by) {
    true_ += by;
    clock_->boot_ += by;
    clock_->wall_ += by;
  }
  // A paused virtual machine: none of its clocks advances.
  void pause(std::chrono::microseconds by) { true_ += by; }
  void set_wall(std::chrono::microseconds error) { clock_->wall_ = true_ + error; }
  // Memory or disk restored from a snapshot, with the same boot id.
  void jump_boot(std::chrono::microseconds by) {
    clock_->boot_ = std::max(std::chrono::microseconds(0), clock_->boot_ + by);
  }
  // The previous clock stays valid for stores that are still open.
  void reboot(std::chrono::microseconds off, std::chrono::microseconds wall_error) {
    true_ += off;
    start(wall_error);
  }

 private:
  void start(std::chrono::microseconds wall_error) {
    before_.push_back(std::move(clock_));
    clock_ = std::make_unique<MachineClock>("boot-" + std::to_string(before_.size()),
                                            std::chrono::seconds(5), true_ + wall_error);
  }

  std::chrono::microseconds true_{1'700'000'000'000'000};
  std::unique_ptr<MachineClock> clock_;
  std::vector<std::unique_ptr<MachineClock>> before_;
};

}  // namespace hapax::test
