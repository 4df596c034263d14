// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

namespace hapax::store {

// Calls the store, and once more when it is not known whether it was done. For calls that bear a
// name of their own (a token, a version, a number): the second gets the answer that the first
// should have got.
template <class Call>
auto retry_if_unknown(const Call& call) {
  auto done = call();
  if (!done && done.error().outcome() == Outcome::unknown) done = call();
  return done;
}

}  // namespace hapax::store
