// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <string>

namespace hapax::cli {

struct VectorTotals {
  std::size_t lines = 0;
  std::size_t valid = 0;
  std::size_t invalid = 0;
  std::size_t unsupported = 0;
  std::size_t missed = 0;  // outcome differs from the expected one; policy vectors are not counted
};

// Runs a file of signature vectors, one JSON object per line: verifies each with its provider's
// preset and writes one JSON object per line to `out`, in the same order. A malformed line is
// written with an "error" and counted as missed.
VectorTotals run_vectors(std::istream& in, std::ostream& out);

}  // namespace hapax::cli
