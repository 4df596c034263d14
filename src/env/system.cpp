// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include <hapax/env.hpp>

#include "base/check.hpp"

#include <sys/random.h>

#include <cerrno>
#include <ctime>
#include <fstream>

namespace hapax {

namespace {

class SystemClock final : public Clock {
 public:
  SystemClock() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::getline(file, boot_id_);
    // Without /proc every process counts as a separate boot: on each open, time follows the wall
    // clock, and never decreases below the last stored time.
    if (boot_id_.empty()) boot_id_ = "unknown-" + std::to_string(since_boot().count());
  }

  WallTime wall() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }

  BootTime since_boot() const override {
    timespec now{};
    HAPAX_CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return std::chrono::seconds(now.tv_sec) +
           std::chrono::duration_cast<BootTime>(std::chrono::nanoseconds(now.tv_nsec));
  }

  const std::string& boot_id() const override { return boot_id_; }

 private:
  std::string boot_id_;
};

// Calls the kernel's generator each time: a generator in the process would repeat itself after
// fork().
class SystemRandom final : public Random {
 public:
  void fill(std::span<unsigned char> bytes) override {
    while (!bytes.empty()) {
      const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      HAPAX_CHECK(got > 0);
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }
};

}  // namespace

std::unique_ptr<Clock> make_system_clock() {
  return std::make_unique<SystemClock>();
}
std::unique_ptr<Random> make_system_random() {
  return std::make_unique<SystemRandom>();
}

}  // namespace hapax
