// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <hapax/result.hpp>

#include <stdexcept>
#include <utility>

namespace hapax::bench {

// The value, or an exception: a benchmark has nobody to hand an error to.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(result).value();
}

}  // namespace hapax::bench
