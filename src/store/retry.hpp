// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

namespace hapax::store {

// Calls the store, and once more if the outcome is unknown. For calls that carry an identifier of
// their own (a token, a version, a number): the second call returns the answer that the first
// should have returned.
template <class Call>
auto retry_if_unknown(const Call& call) {
  auto done = call();
  if (!done && done.error().outcome() == Outcome::unknown) done = call();
  return done;
}

}  // namespace hapax::store
