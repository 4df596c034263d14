// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace hapax::test {

// How often this program has allocated. Link support/allocations.cpp, into a program of its own: it
// replaces operator new.
extern std::atomic<int> allocations;

}  // namespace hapax::test
