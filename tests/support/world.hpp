// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/env.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>

// The test environment: a manual clock, seeded random numbers, a temporary directory.
namespace hapax::test {

// For stores whose timeout is not under test: no machine is that slow. Use a shorter one only for
// calls that are expected to time out.
inline constexpr std::chrono::seconds kLongTimeout{60};

// Changes only when a test advances it. Wall and boot clock advance together; jump_wall() changes
// only the wall clock.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::string boot_id = "boot-1") : boot_id_(std::move(boot_id)) {}

  WallTime wall() const override { return WallTime(std::chrono::microseconds(wall_us_)); }
  BootTime since_boot() const override { return BootTime(boot_us_); }
  const std::string& boot_id() const override { return boot_id_; }

  void advance(std::chrono::microseconds by) {
    wall_us_ += by.count();
    boot_us_ += by.count();
  }
  void jump_wall(std::chrono::microseconds by) { wall_us_ += by.count(); }

 private:
  std::string boot_id_;
  std::atomic<std::int64_t> wall_us_{1'700'000'000'000'000};  // November 2023
  std::atomic<std::int64_t> boot_us_{5'000'000};
};

// The same bytes for the same seed.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  void fill(std::span<unsigned char> bytes) override {
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(next() >> 32);
  }
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::atomic<std::uint64_t> state_;
};

// A temporary directory, removed with its contents by the destructor.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Whether this is a full run (./test --long).
bool is_long_run();
// Whether the cases that only ./test --long has are included.
bool runs_all_cases();

// The number of rounds of a repeated test: `whole` in ./test --long, otherwise a tenth, or a
// fiftieth under a sanitizer. At least 1.
int rounds(int whole);

}  // namespace hapax::test
