// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <cstddef>
#include <map>
#include <utility>

namespace hapax::store::sqlite {

// The parts of a group that cannot be in its transaction, with the reason. A part is a unit with an
// answer of its own: a request (see Admitter), all items of one kind in a batch, or a task.
class Refusals {
 public:
  std::size_t size() const { return refused_.size(); }
  const Error* of(const void* part) const {
    const auto known = refused_.find(part);
    return known != refused_.end() ? &known->second : nullptr;
  }
  void add(const void* part, const Error& why) { refused_.emplace(part, why); }

  // Returns the result of `part`. A part that finds the store corrupt is refused, so that it fails
  // alone: no other part uses the damaged row. After kDamagedMax such parts no more are refused.
  Result<void> watch(const void* part, Result<void> done) {
    const bool damaged = !done && done.error().code() == Code::store_corrupt;
    if (damaged && damaged_++ < kDamagedMax) add(part, done.error());
    return done;
  }

 private:
  static constexpr std::size_t kDamagedMax = 8;  // each makes the transaction run once more

  std::map<const void*, Error> refused_;
  std::size_t damaged_ = 0;
};

}  // namespace hapax::store::sqlite
