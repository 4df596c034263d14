// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

// The suite that every store of hapax passes, for a store of your own. Link hapax::compliance,
// which brings GoogleTest.
namespace hapax::compliance {

// One store under test, empty when it is made. Every case gets its own.
class HAPAX_API Subject {
 public:
  virtual ~Subject() = default;

  // The same store until restart(). Cases call it from many threads.
  virtual DedupStore& store() = 0;
  // Lets that much of the store's time pass. A store with a clock of its own may sleep, so cases
  // ask for as little as they can: a second or two each.
  virtual void advance(std::chrono::milliseconds by) = 0;
  // Closes the store and opens it again, as a new process would. Called only when `durable`.
  virtual void restart() {}
};

// What the store can do. A case that needs what is not declared here is left out; no case is
// skipped for another reason.
struct Traits {
  // Claims outlive restart(). Cases of several steps then run a second time, with a restart before
  // each step.
  bool durable = false;
  // advance() moves the store's time by exactly what it was asked for.
  bool exact_time = false;
};

// Adds the cases to GoogleTest as "NAME.Case"; call it before RUN_ALL_TESTS().
HAPAX_API void add_dedup_suite(const std::string& name, Traits traits,
                               std::function<std::unique_ptr<Subject>()> make);

}  // namespace hapax::compliance
