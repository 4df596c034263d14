// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

// The compliance suite that every hapax store passes, for custom stores. Link hapax::compliance,
// which depends on GoogleTest.
namespace hapax::compliance {

// One store under test, initially empty. Each case gets its own.
class HAPAX_API Subject {
 public:
  virtual ~Subject() = default;

  // The same store until restart(). Cases call it from many threads.
  virtual DedupStore& store() = 0;
  // Advances the store's time. A store with its own clock may sleep, so cases advance as little as
  // possible: a second or two each.
  virtual void advance(std::chrono::milliseconds by) = 0;
  // Closes the store and opens it again, as a new process would. Called only when `durable`.
  virtual void restart() {}
};

// Capabilities of the store. Cases that need an undeclared capability are omitted; no case is
// skipped for any other reason.
struct Traits {
  // Claims outlive restart(). Cases of several steps then run a second time, with a restart before
  // each step.
  bool durable = false;
  // advance() moves the store's time by exactly the requested amount.
  bool exact_time = false;
};

// Adds the cases to GoogleTest as "NAME.Case"; call it before RUN_ALL_TESTS().
HAPAX_API void add_dedup_suite(const std::string& name, Traits traits,
                               std::function<std::unique_ptr<Subject>()> make);

}  // namespace hapax::compliance
