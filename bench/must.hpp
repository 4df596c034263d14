// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/error.hpp>

#include <stdexcept>
#include <utility>

namespace hapax::bench {

// Returns the value or throws: a benchmark cannot handle errors.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

}  // namespace hapax::bench
