// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include "env/log.hpp"
#include "store/memory/driver.hpp"
#include "support/faulty_driver.hpp"
#include "support/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hapax::test {

// Records its lines, grouped by message. Thread-safe.
class LinesLog final : public Log {
 public:
  void line(Level, std::string_view what, std::initializer_list<LogField> fields) override {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string>& line = lines_[std::string(what)].emplace_back();
    for (const LogField& each : fields) line.emplace(each.name, each.value);
  }

  using Lines = std::vector<std::map<std::string, std::string>>;  // the fields of each line
  Lines of(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(what);
    return found == lines_.end() ? Lines() : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Lines> lines_;
};

// A memory store with configurable faults per operation. Thread-safe.
class FaultyStore {
 public:
  using Fault = store::fault::Fault;

  store::fault::FaultyDriver& driver() { return faulty_; }
  const store::Driver& without_faults() { return memory_; }

  void fail(const std::string& operation, Fault fault = Fault::fail) {
    const std::lock_guard lock(mutex_);
    faults_[operation] = fault;
  }
  void recover() {
    const std::lock_guard lock(mutex_);
    faults_.clear();
  }
  // Sets a hook that runs at the beginning of each such call, without a lock.
  void during(const std::string& operation, std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hooks_[operation] = std::move(hook);
  }
  // The operations called since the last calls().
  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  ManualClock clock;

 private:
  Fault next(std::string_view called) {
    const std::string operation(called);
    std::unique_lock lock(mutex_);
    calls_.push_back(operation);
    const std::function<void()> hook = hooks_[operation];
    lock.unlock();
    if (hook) hook();
    lock.lock();
    return faults_[operation];
  }

  static constexpr std::size_t kMaxIds = 100'000;

  std::mutex mutex_;
  std::map<std::string, Fault> faults_;
  std::map<std::string, std::function<void()>> hooks_;
  std::vector<std::string> calls_;
  store::Driver memory_ = store::memory::make_driver(kMaxIds, clock);
  store::fault::FaultyDriver faulty_{memory_,
                                     [this](std::string_view called) { return next(called); }};
};

}  // namespace hapax::test
