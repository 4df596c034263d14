// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Tests for custom stores.

#include <hapax/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

/// The compliance suite that every hapax store passes, for custom stores. Link hapax::compliance,
/// which depends on GoogleTest. A pass does not prove durability after a crash or power failure,
/// the outcomes of errors, or claims from several processes. A race may need several runs.
namespace hapax::compliance {

/// One store under test, initially empty. Each case makes its own, on the thread that runs it, and
/// destroys it before the next case.
class HAPAX_API Subject {
 public:
  virtual ~Subject() = default;

  /// The same store until restart(). Cases call its dedup() from many threads.
  virtual DedupStore& store() = 0;
  /// Advances the store's time by at least `by`. A store with its own clock may sleep: without
  /// `exact_time` a case advances by a few seconds in all.
  virtual void advance(std::chrono::milliseconds by) = 0;
  /// Closes the store and opens it again, as a new process would. Called only when `durable`, and
  /// never during a call of the store. Override it then: with this default, the cases across
  /// restarts test nothing.
  virtual void restart() {}
};

/// What the store can do. Cases that need what is not declared are left out; no case is skipped for
/// any other reason.
struct Traits {
  /// Claims outlive restart(). Cases of several steps then run a second time, with a restart before
  /// each step.
  bool durable = false;
  /// The store's time moves only by advance(), and by exactly the requested amount. A running
  /// clock is not exact, also with an offset.
  bool exact_time = false;
};

/// Adds the cases to GoogleTest as "NAME.Case"; call it before RUN_ALL_TESTS(). `make` creates the
/// subject of a case and must not return null; if the store cannot be opened, it throws, which
/// fails the case with the message. What it refers to must live until the tests have run. A store
/// that breaks the contract fails the cases, not this call.
HAPAX_API void add_dedup_suite(const std::string& name, Traits traits,
                               std::function<std::unique_ptr<Subject>()> make);

}  // namespace hapax::compliance
